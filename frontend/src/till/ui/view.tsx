import { type ReactNode, useEffect, useRef } from 'react'
import styles from './view.module.css'

/** One step of a dialog: it takes the focus, which would otherwise be lost with the button that opened it. */
export function View({ label, children }: { label: string; children: ReactNode }) {
  const here = useRef<HTMLElement>(null)
  useEffect(() => here.current?.focus(), [])
  return (
    <section ref={here} tabIndex={-1} className={styles.view} aria-label={label}>
      {children}
    </section>
  )
}
