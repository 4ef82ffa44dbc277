import { Link } from 'react-router'
import form from '@/shared/ui/form.module.css'
import styles from './auth-page.module.css'

/** Below a form's button: the way for those who are wrong here. */
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
