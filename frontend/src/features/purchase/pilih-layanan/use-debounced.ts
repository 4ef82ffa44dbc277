import { useEffect, useState } from 'react'

const PAUSE_MS = 300

/** A value once it has stood still for a moment, e.g. what is typed into a search. */
export function useDebounced<T>(value: T): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
