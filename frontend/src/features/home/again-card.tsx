import { RefreshCcw, ScanLine } from 'lucide-react'
import { Link } from 'react-router'
import type { LastUse } from '@/shared/api/model'
import { later } from '@/shared/copy/later'
import { paths } from '@/shared/lib/page/paths'
import { rupiah } from '@/shared/lib/text/format'
import styles from './again-card.module.css'

/**
 * Buys the last service again: the customer scans the machine again, because the laundry must be in it, and goes straight to the payment.
 */
export function AgainCard({ last }: { last: LastUse }) {
  return (
    <Link to={paths.scan} state={{ again: last }} className={styles.card}>
      <span className={styles.mark}>
        <RefreshCcw size={22} aria-hidden />
      </span>
      <span className={styles.text}>
        <strong className={styles.title}>{later.again.title(last.nama)}</strong>
        <span className={`digits ${styles.price}`}>{later.again.price(rupiah(last.harga))}</span>
      </span>
      <span className={styles.scan}>
        <ScanLine size={24} aria-hidden />
      </span>
    </Link>
  )
}
