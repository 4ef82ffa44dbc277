import { lastOf } from '@/shared/lib/last-of'

/**
 * An open modal dialog covers the page and makes everything outside it inert, messages too. So the open
 * dialogs are told here, and the node with the messages moves into the topmost of them.
 */
const dialogs: HTMLElement[] = []
const listeners = new Set<() => void>()

const changed = () => {
  for (const listener of listeners) listener()
}

/** A modal dialog is open until the returned function is called. */
export function raise(dialog: HTMLElement): () => void {
  dialogs.push(dialog)
  changed()
  return () => {
    dialogs.splice(dialogs.indexOf(dialog), 1)
    changed()
  }
}

/** Keeps `node` where it can be seen and reached, until the returned function is called. */
export function keepOnTop(node: HTMLElement): () => void {
  const place = () => (lastOf(dialogs) ?? document.body).append(node)
  place()
  listeners.add(place)
  return () => {
    listeners.delete(place)
    node.remove()
  }
}
