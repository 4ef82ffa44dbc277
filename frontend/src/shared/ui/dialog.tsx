import { X } from 'lucide-react'
import {
  type MouseEvent,
  type RefObject,
  useEffect,
  useEffectEvent,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { common } from '@/shared/copy/common'
import { isAgain, lastTap, swallow } from '@/shared/lib/page/last-tap'
import { enterSheet } from '@/shared/lib/page/sheet-history'
import { raise } from '@/shared/lib/toast/toast-layer'
import { Button } from '@/shared/ui/button'
import type { Elements } from '@/shared/ui/elements'
import { IconButton } from '@/shared/ui/icon-button'
import styles from './dialog.module.css'
import { leave } from './leave'
import { GRIP, panel } from './panel'
import { showModal } from './show-modal'

interface Props {
  onClose: () => void
  title: string
  /** An action in progress must be completed: no Escape, no back, no tap beside. */
  locked?: boolean
  /** Typed text would be lost: the dialog asks before it closes. */
  typed?: boolean
  children: Elements
}

/** Marks the field of a dialog that takes the focus when it opens; otherwise the dialog itself does. */
const FIRST = 'data-initial'

/** A sheet at the bottom (centred in a wide window) over the native dialog, which keeps focus inside. */
export function Dialog({ open, ...sheet }: Props & { open: boolean }) {
  return open && <Sheet {...sheet} />
}

function Sheet({ onClose, title, locked = false, typed = false, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  const [asking, setAsking] = useState(false)
  // The same panel from opening to closing: another one would start with empty fields.
  const [Panel] = useState(panel)

  function close() {
    if (locked) return
    if (typed) setAsking(true)
    else onClose()
  }

  const ask = useEffectEvent(close)
  useEffect(() => enterSheet({ ask: () => ask() }), [])

  // A layout effect, so that messages have moved out before the dialog leaves the page.
  useLayoutEffect(() => {
    const node = dialog.current
    if (!node) return
    const shut = showModal(node)
    // Not the close button, which the browser would choose.
    ;(node.querySelector<HTMLElement>(`[${FIRST}]`) ?? node).focus()
    const lower = raise(node)
    return () => {
      lower()
      shut()
      leave(node)
    }
  }, [])
  const beside = useTapBeside(dialog, close)

  return (
    <dialog
      ref={dialog}
      className={styles.layer}
      tabIndex={-1}
      aria-labelledby={titleId}
      {...beside}
      onKeyDown={(event) => {
        // For a browser without modal dialogs (show-modal.ts).
        if (event.key !== 'Escape' || dialog.current?.showModal) return
        event.stopPropagation()
        close()
      }}
      onCancel={(event) => {
        event.preventDefault()
        close()
      }}
      onClose={({ currentTarget }) => {
        // Chromium closes on a second Escape, whatever the cancel event does.
        if (currentTarget.open || !currentTarget.isConnected) return
        if (locked || typed) dialog.current?.showModal?.()
        close()
      }}
    >
      <Panel locked={locked} onClose={close}>
        <div className={styles.head} {...GRIP}>
          {!locked && <div className={styles.handle} />}
          <h2 id={titleId} className={styles.title}>
            {title}
          </h2>
          {!locked && (
            <IconButton label={common.close} onClick={close}>
              <X size={24} aria-hidden />
            </IconButton>
          )}
        </div>
        {children}
      </Panel>
      {asking && <Discard onStay={() => setAsking(false)} onDiscard={onClose} />}
    </dialog>
  )
}

/** The main action: at the sheet's bottom, in sight, however long the sheet is. */
export function Foot({ children }: { children: Elements }) {
  return <div className={styles.foot}>{children}</div>
}

/** Asks whether typed text may be discarded. */
function Discard({ onStay, onDiscard }: { onStay: () => void; onDiscard: () => void }) {
  return (
    <Dialog open onClose={onStay} title={common.discardTitle}>
      <p className={styles.text}>{common.discardBody}</p>
      <Button onClick={onStay}>{common.keepTyping}</Button>
      <Button
        variant="danger"
        onClick={() => {
          onStay()
          onDiscard()
        }}
      >
        {common.discard}
      </Button>
    </Dialog>
  )
}

/**
 * Closes the sheet on a tap beside it. The tap must start and end there, so that a text selection that ends outside closes nothing. The
 * second tap of a double tap is ignored on the sheet that the first one opened; a tap in another place is meant for the sheet.
 */
function useTapBeside(dialog: RefObject<HTMLDialogElement | null>, onTap: () => void) {
  const [openedBy] = useState(lastTap)
  const pressed = useRef(false)

  const isBeside = ({ target }: MouseEvent) => target === dialog.current
  return {
    onPointerDown(event: MouseEvent) {
      pressed.current = isBeside(event) && !isAgain(openedBy, event)
    },
    onClickCapture(event: MouseEvent) {
      if (isAgain(openedBy, event)) swallow(event)
    },
    onClick(event: MouseEvent) {
      if (pressed.current && isBeside(event)) onTap()
    },
  }
}
