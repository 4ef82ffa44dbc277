import {
  ArrowDownLeft,
  ArrowUpRight,
  ChevronRight,
  type LucideIcon,
  RotateCcw,
  WashingMachine,
} from 'lucide-react'
import type { HistoryEntry, RefType } from '@/shared/api/model'
import { formatDateTime, signedRupiah } from '@/shared/lib/format'
import choices from '@/shared/ui/choice.module.css'
import { groupByMonth } from './group-by-month'
import styles from './history-list.module.css'
import { titles } from './titles'

const icons: Record<RefType, LucideIcon> = {
  snap_transaksi: WashingMachine,
  pembelian_emoney: ArrowDownLeft,
  pembelian_emoney_batal: ArrowUpRight,
  snap_transaksi_hapus: RotateCcw,
  snap_transaksi_refund: RotateCcw,
}

interface Props {
  entries: HistoryEntry[]
  onOpen: (entry: HistoryEntry) => void
}

/** Transaction cards under their months. */
export function HistoryList({ entries, onOpen }: Props) {
  return groupByMonth(entries).map(({ title, entries: ofMonth }) => (
    <section key={title} className={styles.month} aria-labelledby={monthId(title)}>
      <h2 id={monthId(title)} className={styles.separator}>
        {title}
      </h2>
      <ul className={choices.list}>
        {ofMonth.map((entry) => (
          <li key={nameOf(entry)} data-entry={nameOf(entry)}>
            <EntryCard entry={entry} onOpen={onOpen} />
          </li>
        ))}
      </ul>
    </section>
  ))
}

/** No other entry of the history is called so. */
const nameOf = ({ ref_type, ref_id, entri }: HistoryEntry) => `${ref_type}-${ref_id}-${entri}`

const monthId = (title: string) => `month-${title.replace(/\s+/g, '-')}`

function EntryCard({ entry, onOpen }: { entry: HistoryEntry; onOpen: Props['onOpen'] }) {
  const Icon = icons[entry.ref_type]
  const incoming = entry.value > 0
  return (
    <button
      type="button"
      className={`${choices.choice} ${styles.card}`}
      onClick={() => onOpen(entry)}
      aria-haspopup="dialog"
    >
      <span className={`${choices.tile} ${incoming ? styles.iconIn : ''}`}>
        <Icon size={22} aria-hidden />
      </span>
      <span className={choices.text}>
        <span className={styles.outlet}>{entry.outlet}</span>
        <span className={styles.line}>
          <span className={styles.kind}>{titles[entry.ref_type]}</span>
          <span className={`digits ${styles.value} ${incoming ? styles.in : styles.out}`}>
            {signedRupiah(entry.value)}
          </span>
        </span>
        <span className={`digits ${styles.date}`}>{formatDateTime(entry.date)}</span>
      </span>
      <ChevronRight className={`${choices.chevron} ${styles.chevron}`} size={18} aria-hidden />
    </button>
  )
}
