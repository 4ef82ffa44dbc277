import { type FormEvent, useId, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { toast } from '@/shared/lib/toast'
import type { Sending } from '@/shared/lib/use-submit'
import { type Faults, fine } from '@/shared/lib/validate'

/** What a field of the form is told about itself. */
export interface FieldOfForm {
  name: string
  invalid?: boolean
  /** The sentence that stands below it. */
  fault?: string
  /** Of the element with the sentence, which may stand below another field. */
  faultId?: string
}

/**
 * A form that says what is wrong where it is wrong. Each sentence stands once, at the first field that it is
 * about; that field gets the focus. It goes as soon as it is no longer true, and comes only with a try to send.
 */
export function useForm<F extends string>(check: () => Faults<F>, submit: Sending['submit']) {
  const [told, setTold] = useState<Faults<F>>({})
  const [refused, setRefused] = useState<F | null>(null)
  const ref = useRef<HTMLFormElement>(null)
  const id = useId()

  const now = check()
  const wrong = (Object.keys(now) as F[]).filter((name) => told[name] === now[name])

  function onSubmit(event: FormEvent) {
    event.preventDefault()
    setRefused(null)
    if (fine(now)) return submit()
    toast.newTry()
    show(() => setTold(now))
  }

  /** Drawn at once, so that the field is marked when it gets the focus, still within the tap that a phone's keyboard wants. */
  function show(mark: () => void): void {
    flushSync(mark)
    ref.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }

  return {
    // Whatever is typed may be what was wrong.
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
    /** For what only the server can know: the field that it refused. Why is said elsewhere. */
    refuse: (name: F) => show(() => setRefused(name)),
  }
}
