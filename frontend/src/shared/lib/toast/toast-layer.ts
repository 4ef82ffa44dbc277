import { lastOf } from '@/shared/lib/text/last-of'

/**
 * The open modal dialogs. Each covers the page and makes everything outside it inert, messages too, so the node with the messages moves
 * into the topmost dialog.
 */
const dialogs: HTMLElement[] = []
const listeners = new Set<() => void>()

const changed = () => {
  for (const listener of listeners) listener()
}

/** Registers an open modal dialog, until the returned function is called. */
export function raise(dialog: HTMLElement): () => void {
  dialogs.push(dialog)
  changed()
  return () => {
    dialogs.splice(dialogs.indexOf(dialog), 1)
    changed()
  }
}

/** Keeps `node` where it is visible and reachable, until the returned function is called. */
export function keepOnTop(node: HTMLElement): () => void {
  const place = () => (lastOf(dialogs) ?? document.body).append(node)
  place()
  listeners.add(place)
  return () => {
    listeners.delete(place)
    node.remove()
  }
}
