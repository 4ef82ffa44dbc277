import { type TextareaHTMLAttributes, useId } from 'react'
import styles from './field.module.css'

interface Props extends TextareaHTMLAttributes<HTMLTextAreaElement> {
  label: string
  hint: string
}

const AREA = { paddingBlock: 12, resize: 'vertical' } as const

/** A labelled text of several lines. The hint below it is part of its description. */
export function TextArea({ label, hint, rows = 3, ...input }: Props) {
  const id = useId()
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {label}
      </label>
      <div className={styles.box}>
        <textarea
          {...input}
          id={id}
          rows={rows}
          className={styles.input}
          style={AREA}
          aria-describedby={`${id}-hint`}
        />
      </div>
      <span id={`${id}-hint`} className={styles.hint}>
        {hint}
      </span>
    </div>
  )
}
