import { type InputHTMLAttributes, useId } from 'react'
import type { FieldOfForm } from '@/shared/lib/form/use-form'
import type { Elements } from '@/shared/ui/elements'
import styles from './field.module.css'

export interface FieldProps
  extends InputHTMLAttributes<HTMLInputElement>,
    Partial<Omit<FieldOfForm, 'name'>> {
  label: string
  hint?: string | undefined
  prefix?: string
  trailing?: Elements
  /** Id of another element that describes it. */
  describedBy?: string
  /** Below the input. */
  children?: Elements
}

/** A labelled input with its prefix before it. The hint below it, or the fault in its place, is part of its description. */
export function Field({
  label,
  hint,
  prefix,
  invalid = false,
  fault,
  faultId,
  describedBy,
  trailing,
  id,
  className,
  children,
  ...input
}: FieldProps) {
  const own = useId()
  const inputId = id ?? own
  const hintId = hint && !fault ? `${inputId}-hint` : undefined
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={inputId}>
        {label}
      </label>
      <div className={styles.box} data-invalid={invalid || undefined}>
        {prefix && <span className={styles.prefix}>{prefix}</span>}
        <input
          {...input}
          id={inputId}
          className={[styles.input, className].filter(Boolean).join(' ')}
          aria-invalid={invalid || undefined}
          aria-describedby={[faultId, hintId, describedBy].filter(Boolean).join(' ') || undefined}
        />
        {trailing}
      </div>
      {fault && (
        <span id={faultId} role="alert" className={styles.fault}>
          {fault}
        </span>
      )}
      {hintId && (
        <span id={hintId} className={styles.hint}>
          {hint}
        </span>
      )}
      {children}
    </div>
  )
}
