import type { ButtonHTMLAttributes, ReactNode } from 'react'
import { Spinner } from '@/shared/ui/spinner'
import styles from './button.module.css'

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  variant?: 'primary' | 'secondary' | 'quiet' | 'danger'
  /** Shows a spinner and takes no tap; the label keeps its place, so that nothing jumps. */
  pending?: boolean
  icon?: ReactNode
}

export function Button({
  variant = 'primary',
  pending = false,
  icon,
  disabled,
  className,
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
      disabled={disabled || pending}
      aria-busy={pending || undefined}
    >
      <span className={styles.label}>
        {icon}
        {children}
      </span>
      {pending && (
        <span className={styles.spinner}>
          <Spinner />
        </span>
      )}
    </button>
  )
}
