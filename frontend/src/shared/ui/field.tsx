import { type InputHTMLAttributes, type ReactNode, useId } from 'react'
import styles from './field.module.css'

export interface FieldProps extends InputHTMLAttributes<HTMLInputElement> {
  label: string
  hint?: string | undefined
  prefix?: string
  invalid?: boolean
  trailing?: ReactNode
}

/** A labelled input. The hint is part of its description, the prefix is printed before it. */
export function Field({
  label,
  hint,
  prefix,
  invalid = false,
  trailing,
  id,
  className,
  ...input
}: FieldProps) {
  const own = useId()
  const inputId = id ?? own
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
          aria-describedby={hint ? `${inputId}-hint` : undefined}
        />
        {trailing}
      </div>
      {hint && (
        <span id={`${inputId}-hint`} className={styles.hint}>
          {hint}
        </span>
      )}
    </div>
  )
}
