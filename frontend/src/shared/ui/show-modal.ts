import { lastOf } from '@/shared/lib/text/last-of'

/** Open dialogs in a browser without modal dialogs, the topmost last. */
const open: HTMLElement[] = []

/** Keeps the focus in the topmost dialog. */
function hold({ target }: FocusEvent): void {
  const top = lastOf(open)
  if (top && target instanceof Node && !top.contains(target)) top.focus()
}

/**
 * Opens a dialog over the page, and returns the function that closes it. Safari before 15.4 has no modal dialogs: there the style sheet
 * lays it over the page (`data-plain`), and this module keeps the focus in it.
 */
export function showModal(dialog: HTMLDialogElement): () => void {
  if (dialog.showModal) {
    dialog.showModal()
    return () => dialog.close()
  }
  const before = document.activeElement
  dialog.dataset.plain = ''
  dialog.setAttribute('open', '')
  dialog.setAttribute('role', 'dialog')
  dialog.setAttribute('aria-modal', 'true')
  if (open.length === 0) document.addEventListener('focusin', hold)
  open.push(dialog)
  return () => {
    open.splice(open.indexOf(dialog), 1)
    dialog.removeAttribute('open')
    if (open.length > 0) return
    document.removeEventListener('focusin', hold)
    if (before instanceof HTMLElement) before.focus()
  }
}
