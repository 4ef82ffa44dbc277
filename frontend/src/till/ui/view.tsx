import { type ReactNode, useEffect, useRef } from 'react'
import styles from './view.module.css'

/** One step of a dialog: it takes the focus, which would otherwise be lost with the button that opened it. */
export function View({ label, children }: { label: string; children: ReactNode }) {
  const here = useRef<HTMLElement>(null)
  useEffect(() => {
    here.current?.focus({ preventScroll: true })
    // Each step begins at its top, wherever the one before was scrolled to.
    here.current?.closest('[data-panel]')?.scrollTo(0, 0)
  }, [])
  return (
    <section ref={here} tabIndex={-1} className={styles.view} aria-label={label}>
      {children}
    </section>
  )
}
