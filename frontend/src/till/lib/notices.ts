import { create } from 'zustand'

/** A sentence for whoever stands at the till, about what just happened. */
export interface Notice {
  /** Counts up: the same sentence again is another one, to be read aloud again. */
  id: number
  kind: 'info' | 'failure'
  text: string
}

/** One at a time: the next one is about something newer. */
export const useNotice = create<{ notice: Notice | null }>(() => ({ notice: null }))

let count = 0

function say(kind: Notice['kind'], text: string): void {
  count += 1
  useNotice.setState({ notice: { id: count, kind, text } })
}

export const tell = {
  info: (text: string) => say('info', text),
  failure: (text: string) => say('failure', text),
  clear: () => useNotice.setState({ notice: null }),
}
