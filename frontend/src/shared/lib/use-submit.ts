import { useCallback, useRef, useState } from 'react'
import { toast } from '@/shared/lib/toast'

/**
 * Runs an action once at a time: a second tap while the first is under way does nothing. `pending` is
 * for the spinner; the guard itself is a ref, because two taps can land before React draws. Messages of
 * an earlier failure go with the new try.
 */
export function useSubmit<A extends unknown[]>(
  action: (...args: A) => Promise<void>,
): { pending: boolean; submit: (...args: A) => void } {
  const busy = useRef(false)
  const [pending, setPending] = useState(false)
  const latest = useRef(action)
  latest.current = action

  const submit = useCallback((...args: A) => {
    if (busy.current) return
    busy.current = true
    toast.newTry()
    setPending(true)
    void latest.current(...args).finally(() => {
      busy.current = false
      setPending(false)
    })
  }, [])
  return { pending, submit }
}
