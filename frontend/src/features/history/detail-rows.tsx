import { signedRupiah } from '@/shared/lib/text/format'
import type { Receipt } from './receipt'
import styles from './riwayat-page.module.css'

/** The main value of the receipt comes first: the money that moved, by sign and colour. */
export function DetailRows({ receipt: { total, lines } }: { receipt: Receipt }) {
  return (
    <dl className={styles.detail}>
      <div className={styles.total}>
        <dt>{total.label}</dt>
        <dd className={`digits ${total.value < 0 ? styles.out : styles.in}`}>{signedRupiah(total.value)}</dd>
      </div>
      {lines.map(([label, value]) => (
        <div key={label} className={styles.row}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
