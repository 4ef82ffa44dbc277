/**
 * Where the toaster's element lives. An open modal dialog makes everything outside of it inert and
 * dim, so while one is open the messages live inside it.
 */
const home = document.createElement('div')
const dialogs: HTMLElement[] = []

function move(): void {
  ;(dialogs.at(-1) ?? document.body).append(home)
}

export function toastHome(): HTMLElement {
  if (!home.isConnected) move()
  return home
}

/** To be called when a modal dialog has opened; the returned function when it closes. */
export function enterDialog(dialog: HTMLElement): () => void {
  dialogs.push(dialog)
  move()
  return () => {
    dialogs.splice(dialogs.indexOf(dialog), 1)
    move()
  }
}
