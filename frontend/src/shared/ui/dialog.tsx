import { X } from 'lucide-react'
import { type MouseEvent, type ReactNode, useId, useLayoutEffect, useRef } from 'react'
import { added } from '@/shared/copy/added'
import { raise } from '@/shared/lib/toast-layer'
import { IconButton } from '@/shared/ui/icon-button'
import styles from './dialog.module.css'

interface Props {
  open: boolean
  onClose: () => void
  title: string
  /** Something is under way that must be seen to its end: no Escape, no tap beside. */
  locked?: boolean
  children: ReactNode
}

/** Marks the field of a dialog that takes the focus when it opens; otherwise the dialog itself does. */
const FIRST = 'data-awal'

/** A sheet at the bottom (centred on a desktop) over the native dialog, which keeps focus inside. */
export function Dialog({ open, onClose, title, locked = false, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()

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

  function onBackdrop(event: MouseEvent) {
    if (event.target === dialog.current && !locked) onClose()
  }

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard closes with Escape, which the dialog handles itself
    <dialog
      ref={dialog}
      className={styles.dialog}
      tabIndex={-1}
      aria-labelledby={titleId}
      onClick={onBackdrop}
      onCancel={(event) => {
        event.preventDefault()
        if (!locked) onClose()
      }}
      onClose={() => {
        // Chromium closes on a second Escape whatever the cancel event says.
        if (!open || dialog.current?.open) return
        if (locked) dialog.current?.showModal()
        else onClose()
      }}
    >
      {open && (
        <div className={styles.content}>
          <div className={styles.head}>
            <h2 id={titleId} className={styles.title}>
              {title}
            </h2>
            {!locked && (
              <IconButton label={added.umum.tutup} className={styles.close} onClick={onClose}>
                <X size={24} aria-hidden />
              </IconButton>
            )}
          </div>
          {children}
        </div>
      )}
    </dialog>
  )
}
