import { rupiah } from '@/shared/lib/text/format'
import type { PaidIn } from './paid-in'
import { paidIn as texts } from './paid-in-copy'
import styles from './top-up-page.module.css'

/** Shown in the code's place: a top-up arrived. */
export function PaidInNote({ amount, balance }: Pick<PaidIn, 'amount' | 'balance'>) {
  return (
    <div className={styles.paidIn}>
      <svg className={styles.check} viewBox="0 0 112 112" aria-hidden="true">
        <circle cx="56" cy="56" r="52" strokeWidth="8" />
        <path
          d="M38 58l12 12 25-27"
          fill="none"
          strokeWidth="5"
          strokeLinecap="round"
          strokeLinejoin="round"
        />
      </svg>
      <p className={styles.came}>
        <span>{texts.title}</span>{' '}
        {amount !== null && (
          <span className={`digits ${styles.amount}`} translate="no">
            {rupiah(amount)}
          </span>
        )}
      </p>
      <p className={styles.balance}>
        {texts.balance}{' '}
        <span className={`digits ${styles.present}`} translate="no">
          {rupiah(balance)}
        </span>
      </p>
    </div>
  )
}
