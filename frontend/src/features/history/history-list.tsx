import {
  ArrowDownLeft,
  ArrowUpRight,
  Banknote,
  CalendarX,
  type LucideIcon,
  PackageOpen,
  RotateCcw,
  Smartphone,
  Trash2,
  WashingMachine,
} from 'lucide-react'
import type { HistoryEntry, RefType } from '@/shared/api/model'
import { formatDateTime, signedRupiah } from '@/shared/lib/text/format'
import { serverNow } from '@/shared/realtime/clock'
import choices from '@/shared/ui/choice.module.css'
import { groupByDay } from './group-by-day'
import { groupByMonth } from './group-by-month'
import styles from './history-list.module.css'
import { titles } from './titles'

const icons: Record<RefType, LucideIcon> = {
  snap_transaksi: WashingMachine,
  pembelian_emoney: ArrowDownLeft,
  pembelian_emoney_batal: ArrowUpRight,
  snap_transaksi_hapus: Trash2,
  snap_transaksi_refund: RotateCcw,
  penarikan: Banknote,
  saldo_hangus: CalendarX,
  pindah_masuk: Smartphone,
  pindah_keluar: Smartphone,
  saldo_awal: PackageOpen,
}

interface Props {
  entries: HistoryEntry[]
  onOpen: (entry: HistoryEntry) => void
}

/** One card a month under its name, with a band before each day. Only the months are headings. */
export function HistoryList({ entries, onOpen }: Props) {
  const now = serverNow()
  return groupByMonth(entries).map(({ title, entries: ofMonth }) => (
    <section key={title} aria-labelledby={idOf(title)}>
      <h2 id={idOf(title)} className={styles.month}>
        {title}
      </h2>
      <div className={choices.surface}>
        {groupByDay(ofMonth, now).map(({ date, name, entries: ofDay }) => (
          <div key={date} className={styles.day}>
            <p id={idOf(date)} className={styles.band}>
              {name}
            </p>
            <ul aria-labelledby={idOf(date)}>
              {ofDay.map((entry) => (
                <li key={nameOf(entry)} data-entry={nameOf(entry)}>
                  <EntryRow entry={entry} onOpen={onOpen} />
                </li>
              ))}
            </ul>
          </div>
        ))}
      </div>
    </section>
  ))
}

/** The unique name of an entry in the history. */
const nameOf = ({ ref_type, ref_id, entri }: HistoryEntry) => `${ref_type}-${ref_id}-${entri}`

const idOf = (title: string) => `from-${title.replace(/\W+/g, '-')}`

function EntryRow({ entry, onOpen }: { entry: HistoryEntry; onOpen: Props['onOpen'] }) {
  const Icon = icons[entry.ref_type]
  const incoming = entry.value > 0
  return (
    <button type="button" className={choices.choice} onClick={() => onOpen(entry)} aria-haspopup="dialog">
      <span className={`${choices.tile} ${styles.tile} ${incoming ? styles.tileIn : ''}`}>
        <Icon size={20} aria-hidden />
      </span>
      <span className={choices.text}>
        <span className={styles.line}>
          <span className={choices.name}>{titles[entry.ref_type]}</span>
          <span className={`digits ${styles.value} ${incoming ? styles.in : styles.out}`}>
            {signedRupiah(entry.value)}
          </span>
        </span>
        <span className={styles.line}>
          <span className={`${choices.second} ${styles.outlet}`}>{entry.outlet}</span>
          <span className={`digits ${styles.date}`}>{formatDateTime(entry.date)}</span>
        </span>
      </span>
    </button>
  )
}
