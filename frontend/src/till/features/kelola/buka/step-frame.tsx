import { ArrowLeft, ArrowRight } from 'lucide-react'
import { type FormEventHandler, type RefObject, useId } from 'react'
import { Button } from '@/shared/ui/button'
import type { Elements } from '@/shared/ui/elements'
import { useConnected } from '@/till/lib/session/use-connected'
import shared from '../kelola.module.css'
import { kelola } from '../kelola-copy'
import type { Saving } from '../use-save'
import styles from './buka.module.css'
import { buka } from './buka-copy'

interface Props<T> {
  saving: Saving<T>
  /** The button that saves the step. */
  label: string
  icon?: Elements
  /** Nothing can be saved yet; the note says why. */
  disabled?: boolean
  note?: string | undefined
  /** The step is one form; its next button sends it. */
  form?: {
    ref: RefObject<HTMLFormElement | null>
    onSubmit: FormEventHandler
    onInput: () => void
    noValidate: boolean
  }
  /** The next button of a step whose actions save themselves. */
  onNext?: () => void
  onBack: (() => void) | null
  onAgain: () => void
  children: Elements
}

/** A step's form, and its buttons below, in sight however long the form is. */
export function StepFrame<T>({
  saving,
  label,
  icon,
  disabled = false,
  note,
  form,
  onNext,
  onBack,
  onAgain,
  children,
}: Props<T>) {
  const { pending, fault, open } = saving
  const connected = useConnected()
  const why = useId()
  const said = fault || (connected ? (note ?? '') : kelola.offline)
  const inside = (
    <>
      <fieldset className={styles.body} disabled={pending || open}>
        {children}
      </fieldset>
      <div className={styles.foot}>
        {onBack && (
          <Button
            variant="secondary"
            className={styles.back}
            icon={<ArrowLeft size={20} aria-hidden />}
            disabled={pending}
            onClick={onBack}
          >
            {buka.back}
          </Button>
        )}
        <p
          id={why}
          role={fault && !pending ? 'alert' : 'status'}
          className={fault && !pending ? shared.fault : styles.note}
        >
          {said}
        </p>
        {open ? (
          <Button className={styles.next} pending={pending} onClick={onAgain}>
            {kelola.askAgain}
          </Button>
        ) : (
          <Button
            type={form ? 'submit' : 'button'}
            onClick={onNext}
            className={styles.next}
            icon={icon ?? <ArrowRight size={20} aria-hidden />}
            pending={pending}
            disabled={(disabled || !connected) && !pending}
            aria-describedby={why}
          >
            {label}
          </Button>
        )}
      </div>
    </>
  )
  if (!form) return <div className={styles.step}>{inside}</div>
  return (
    <form {...form} className={styles.step}>
      {inside}
    </form>
  )
}
