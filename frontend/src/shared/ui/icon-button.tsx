import type { ButtonHTMLAttributes, ReactNode } from 'react'
import styles from './icon-button.module.css'

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** The button's action, which the icon alone does not give a screen reader. */
  label: string
  children: ReactNode
}

/** A round button that is only an icon. */
export function IconButton({ label, className, children, ...rest }: Props) {
  return (
    <button
      type="button"
      {...rest}
      aria-label={label}
      className={[styles.button, className].filter(Boolean).join(' ')}
    >
      {children}
    </button>
  )
}
