import { useEffect, useState } from 'react'

const PAUSE_MS = 300

/** A value that is updated once it has not changed for a moment, e.g. the text of a search. */
export function useDebounced<T>(value: T): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
