import { create } from 'zustand'

/** A sentence for the member of staff at the till, about what just happened. */
export interface Notice {
  /** A counter: the same sentence again is another notice, to be read aloud again. */
  id: number
  kind: 'info' | 'failure'
  text: string
}

/** The current notice; a newer one replaces it. */
export const useNotice = create<{ notice: Notice | null }>(() => ({ notice: null }))

let count = 0

function show(kind: Notice['kind'], text: string): void {
  count += 1
  useNotice.setState({ notice: { id: count, kind, text } })
}

export const notify = {
  info: (text: string) => show('info', text),
  failure: (text: string) => show('failure', text),
  clear: () => useNotice.setState({ notice: null }),
}
