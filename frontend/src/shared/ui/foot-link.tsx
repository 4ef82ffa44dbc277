import { Link } from 'react-router'
import form from '@/shared/ui/form.module.css'

/** Below a form: the way for those who are wrong here. */
export function FootLink({ question, to, label }: { question: string; to: string; label: string }) {
  return (
    <p className={form.foot}>
      {question}{' '}
      <Link className={form.link} to={to}>
        {label}
      </Link>
    </p>
  )
}
