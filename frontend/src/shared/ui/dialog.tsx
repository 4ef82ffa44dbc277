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
import { common } from '@/shared/copy/shared'
import { fitToApp, KEEP_CLEAR } from '@/shared/lib/free-place'
import { isAgain, lastTap, swallow } from '@/shared/lib/last-tap'
import { enterSheet } from '@/shared/lib/sheet-history'
import { raise } from '@/shared/lib/toast-layer'
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
  /** Something is under way that must be seen to its end: no Escape, no back, no tap beside. */
  locked?: boolean
  /** Something typed would be lost: it asks before it closes. */
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
  // The same one from its opening to its end: another one would begin with empty fields.
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
    fitToApp(node)
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
        // Where the browser knows no modal dialogs (show-modal.ts).
        if (event.key !== 'Escape' || dialog.current?.showModal) return
        event.stopPropagation()
        close()
      }}
      onCancel={(event) => {
        event.preventDefault()
        close()
      }}
      onClose={({ currentTarget }) => {
        // Chromium closes on a second Escape whatever the cancel event says.
        if (currentTarget.open || !currentTarget.isConnected) return
        if (locked || typed) dialog.current?.showModal?.()
        close()
      }}
    >
      <Panel locked={locked} onClose={close}>
        <div className={styles.head} {...KEEP_CLEAR} {...GRIP}>
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

/** What one mostly comes for: at the sheet's bottom, in sight, however long the sheet is. */
export function Foot({ children }: { children: Elements }) {
  return <div className={styles.foot}>{children}</div>
}

/** Asks whether what was typed may go. */
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
 * A tap beside the sheet closes it: one that begins and ends there, so that a selection of text that is
 * let go outside closes nothing. The second tap of a double tap is none on the sheet that the first one has opened;
 * whoever taps elsewhere means the sheet.
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
