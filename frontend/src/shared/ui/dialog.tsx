import { X } from 'lucide-react'
import {
  type MouseEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { common } from '@/shared/copy/shared'
import { KEEP_CLEAR } from '@/shared/lib/free-top'
import { lastTap } from '@/shared/lib/last-tap'
import { enterSheet } from '@/shared/lib/sheet-history'
import { raise } from '@/shared/lib/toast-layer'
import { Button } from '@/shared/ui/button'
import { IconButton } from '@/shared/ui/icon-button'
import styles from './dialog.module.css'

interface Props {
  open: boolean
  onClose: () => void
  title: string
  /** Something is under way that must be seen to its end: no Escape, no back, no tap beside. */
  locked?: boolean
  /** Something typed would be lost: it asks before it closes. */
  typed?: boolean
  children: ReactNode
}

/** Marks the field of a dialog that takes the focus when it opens; otherwise the dialog itself does. */
const FIRST = 'data-initial'

/**
 * The second tap of a double tap is no tap on the sheet that the first one has opened. It ends soon after the
 * first one began (ms) and is near it (CSS pixels); whoever taps elsewhere means the sheet.
 */
const DOUBLE_TAP = { within: 400, near: 40 }

/** A sheet at the bottom (centred on a desktop) over the native dialog, which keeps focus inside. */
export function Dialog({ open, onClose, title, locked = false, typed = false, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  const [asking, setAsking] = useState(false)

  function close() {
    if (locked) return
    if (typed) setAsking(true)
    else onClose()
  }

  const latest = useRef(close)
  latest.current = close
  useEffect(() => (open ? enterSheet({ ask: () => latest.current() }) : undefined), [open])

  // A layout effect, so that messages have moved out before the dialog leaves the page.
  useLayoutEffect(() => {
    const node = dialog.current
    if (!open || !node) return
    node.showModal()
    // Not the close button, which the browser would choose.
    ;(node.querySelector<HTMLElement>(`[${FIRST}]`) ?? node).focus()
    const lower = raise(node)
    return () => {
      lower()
      node.close()
    }
  }, [open])
  const beside = useTapBeside(dialog, open, close)

  return (
    <dialog
      ref={dialog}
      className={styles.dialog}
      tabIndex={-1}
      aria-labelledby={titleId}
      {...beside}
      onCancel={(event) => {
        event.preventDefault()
        close()
      }}
      onClose={() => {
        // Chromium closes on a second Escape whatever the cancel event says.
        if (!open || dialog.current?.open) return
        if (locked || typed) dialog.current?.showModal()
        close()
      }}
    >
      {open && (
        <div className={styles.content}>
          <div className={styles.head} {...KEEP_CLEAR}>
            <h2 id={titleId} className={styles.title}>
              {title}
            </h2>
            {!locked && (
              <IconButton label={common.close} className={styles.close} onClick={close}>
                <X size={24} aria-hidden />
              </IconButton>
            )}
          </div>
          {children}
          {asking && <Discard onStay={() => setAsking(false)} onDiscard={onClose} />}
        </div>
      )}
    </dialog>
  )
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
 * let go outside closes nothing.
 */
function useTapBeside(dialog: RefObject<HTMLDialogElement | null>, open: boolean, onTap: () => void) {
  const openedBy = useRef(lastTap())
  const pressed = useRef(false)
  useLayoutEffect(() => {
    if (open) openedBy.current = lastTap()
  }, [open])

  const again = ({ timeStamp, clientX, clientY }: MouseEvent) => {
    const { x, y, at } = openedBy.current
    return timeStamp - at < DOUBLE_TAP.within && Math.hypot(clientX - x, clientY - y) < DOUBLE_TAP.near
  }
  const isBeside = (event: MouseEvent) => {
    if (event.target !== dialog.current) return false
    const { left, right, top, bottom } = dialog.current.getBoundingClientRect()
    const { clientX: x, clientY: y } = event
    return x < left || x > right || y < top || y > bottom
  }
  return {
    onPointerDown(event: MouseEvent) {
      pressed.current = isBeside(event) && !again(event)
    },
    onClickCapture(event: MouseEvent) {
      // The keyboard's click has no detail and is no second tap.
      if (event.detail === 0 || !again(event)) return
      event.preventDefault()
      event.stopPropagation()
    },
    onClick(event: MouseEvent) {
      if (pressed.current && isBeside(event)) onTap()
    },
  }
}
