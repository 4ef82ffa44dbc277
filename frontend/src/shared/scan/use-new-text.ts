import { useRef } from 'react'

/** The same code is not taken again before this, so that a refusal can be read. */
const SAME_TEXT_MS = 6_000

/** Whether a text that the camera sees is to be taken: it sees the same one many times a second. */
export function useNewText(): (text: string) => boolean {
  const last = useRef({ text: '', at: 0 })
  return (text) => {
    const now = Date.now()
    const again = last.current.text === text && Math.abs(now - last.current.at) < SAME_TEXT_MS
    if (!again) last.current = { text, at: now }
    return !again
  }
}
