import type { ButtonHTMLAttributes } from 'react'
import type { Elements } from '@/shared/ui/elements'
import { Spinner } from '@/shared/ui/spinner'
import styles from './button.module.css'

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  variant?: 'primary' | 'secondary' | 'quiet' | 'danger'
  /**
   * Shows a spinner and ignores taps; the label keeps its place, so that nothing jumps. Not `disabled`, which would lose the keyboard's
   * focus.
   */
  pending?: boolean
  icon?: Elements
}

export function Button({
  variant = 'primary',
  pending = false,
  icon,
  className,
  onClick,
  children,
  type = 'button',
  ...rest
}: Props) {
  const classes = [styles.button, styles[variant], pending && styles.pending, className]
  return (
    <button
      {...rest}
      type={type}
      className={classes.filter(Boolean).join(' ')}
      aria-disabled={pending || undefined}
      aria-busy={pending || undefined}
      onClick={(event) => {
        if (pending) event.preventDefault()
        else onClick?.(event)
      }}
    >
      <span className={styles.label}>
        {icon}
        <span>{children}</span>
      </span>
      {pending && (
        <span className={styles.spinner}>
          <Spinner />
        </span>
      )}
    </button>
  )
}
