import { useRef, useState } from 'react'
import { toast } from '@/shared/lib/toast/toast'

/** An action that is sent once at a time. */
export interface Sending<A extends unknown[] = []> {
  /** For the spinner. */
  pending: boolean
  /** A second tap during the first request does nothing. */
  submit: (...args: A) => void
}

/** The guard of `submit`: a ref, because two taps can arrive before React renders. */
export function useOneAtATime(): (run: () => Promise<unknown>) => void {
  const busy = useRef(false)
  return (run) => {
    if (busy.current) return
    busy.current = true
    void run().finally(() => {
      busy.current = false
    })
  }
}

/**
 * Runs an action of this phone, or of a screen before the login. Those screens have no query cache, because its library would be a tenth
 * of what they load. A logged-in customer's change uses `useSend`. A new attempt removes the messages of an earlier failure.
 */
export function useSubmit<A extends unknown[]>(
  action: (...args: A) => Promise<void>,
  onFailed?: (error: unknown) => void,
): Sending<A> {
  const once = useOneAtATime()
  const [pending, setPending] = useState(false)

  function submit(...args: A): void {
    once(async () => {
      toast.newTry()
      setPending(true)
      try {
        await action(...args)
      } catch (failure) {
        if (!onFailed) throw failure
        onFailed(failure)
      } finally {
        setPending(false)
      }
    })
  }
  return { pending, submit }
}
