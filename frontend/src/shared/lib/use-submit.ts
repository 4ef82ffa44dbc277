import { useRef, useState } from 'react'
import { toast } from '@/shared/lib/toast'

/** Something that is sent once at a time. */
export interface Sending<A extends unknown[] = []> {
  /** For the spinner. */
  pending: boolean
  /** A second tap while the first is under way does nothing. */
  submit: (...args: A) => void
}

/** The guard of `submit`: a ref, because two taps can land before React draws. */
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
 * Runs an action of this phone, or one of the screens before login, which have no query cache: its library would be a
 * tenth of what they load. What a customer sends who is logged in goes by `useSend`. Messages of an earlier failure go
 * with the new try.
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
