import { type FormEvent, useId, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import type { Sending } from '@/shared/lib/form/use-submit'
import { type Faults, fine } from '@/shared/lib/form/validate'
import { toast } from '@/shared/lib/toast/toast'

/** The validation props of one field. */
export interface FieldOfForm {
  name: string
  invalid?: boolean
  /** The sentence below the field. */
  fault?: string
  /** Id of the element with the sentence, which may be below another field. */
  faultId?: string
}

/**
 * A form that shows each fault at its field. Each sentence appears once, at the first field that it is about, and that field gets the
 * focus. The sentence disappears as soon as it is no longer true, and appears only on an attempt to send.
 */
export function useForm<F extends string>(check: () => Faults<F>, submit: Sending['submit']) {
  const [shownFaults, setShownFaults] = useState<Faults<F>>({})
  const [refused, setRefused] = useState<F | null>(null)
  const ref = useRef<HTMLFormElement>(null)
  const id = useId()

  const now = check()
  const wrong = (Object.keys(now) as F[]).filter((name) => shownFaults[name] === now[name])

  function onSubmit(event: FormEvent) {
    event.preventDefault()
    setRefused(null)
    if (fine(now)) return submit()
    toast.newTry()
    show(() => setShownFaults(now))
  }

  /**
   * Rendered synchronously, so that the field is marked when it gets the focus, still within the tap, which a phone's keyboard requires.
   */
  function show(mark: () => void): void {
    flushSync(mark)
    ref.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }

  return {
    // Any edit may have fixed the refused value.
    form: { ref, onSubmit, onInput: () => setRefused(null), noValidate: true },
    field(name: F): FieldOfForm {
      if (name === refused) return { name, invalid: true }
      if (!wrong.includes(name)) return { name }
      const first = wrong.find((one) => now[one] === now[name])
      return {
        name,
        invalid: true,
        faultId: `${id}${first}`,
        ...(first === name && { fault: now[name] }),
      }
    },
    /** Marks the field that only the server could refuse. The reason is shown in another place. */
    refuse: (name: F) => show(() => setRefused(name)),
  }
}
