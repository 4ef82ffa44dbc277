import { Link } from 'react-router'
import form from '@/shared/ui/form.module.css'
import styles from './auth-page.module.css'

/** The link below a form's button, for customers on the wrong screen. */
export function FootLink({ question, to, label }: { question: string; to: string; label: string }) {
  return (
    <p className={styles.foot}>
      <span>{question}</span>{' '}
      <Link className={form.link} to={to}>
        {label}
      </Link>
    </p>
  )
}
