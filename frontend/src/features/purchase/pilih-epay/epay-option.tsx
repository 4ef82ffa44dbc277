import { ChevronRight } from 'lucide-react'
import type { AkunEpay } from '@/shared/api/model'
import { copy } from '@/shared/copy/copy'
import { expiresAt } from '@/shared/lib/text/epay'
import { formatDate, rupiah } from '@/shared/lib/text/format'
import choices from '@/shared/ui/choice.module.css'
import styles from './pilih-epay-page.module.css'

interface Props {
  epay: AkunEpay
  price: number
  onChoose: () => void
}

/** One wallet; a balance that is too low is marked, and a tap on it is refused. */
export function EpayOption({ epay, price, onChoose }: Props) {
  const { outlet, quota_emoney } = epay
  const balance = quota_emoney?.saldo ?? 0
  const expiry = expiresAt(epay)
  const low = balance < price
  return (
    <button
      type="button"
      className={`${choices.choice} ${styles.option}`}
      data-low={low || undefined}
      onClick={onChoose}
    >
      <span className={choices.text}>
        <span className={styles.outlet}>{outlet?.nama}</span>
        <span className={styles.meta}>{outlet?.kota}</span>
        {expiry !== null && <span className={styles.meta}>{copy.epay.validUntil(formatDate(expiry))}</span>}
      </span>
      <span className={styles.amount}>
        <span className={`digits ${styles.balance}`}>{rupiah(balance)}</span>
        {low ? (
          <span className={styles.low}>{copy.epay.insufficient}</span>
        ) : (
          <span className={`digits ${styles.meta}`}>{copy.epay.left(rupiah(balance - price))}</span>
        )}
      </span>
      <ChevronRight size={20} aria-hidden className={choices.chevron} />
    </button>
  )
}
