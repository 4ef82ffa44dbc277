import { ChevronDown, ListFilter } from 'lucide-react'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { asHistoryKind, type HistoryKind } from './calls'
import styles from './filter.module.css'

const choices: { value: HistoryKind; label: string }[] = [
  { value: '', label: spec.allTransactions },
  { value: 'snap_transaksi', label: spec.machineUse },
  { value: 'pembelian_emoney', label: spec.filterTopUp },
]

/** The phone's native list of choices. */
export function Filter({ value, onChange }: { value: HistoryKind; onChange: (kind: HistoryKind) => void }) {
  return (
    <div className={styles.box}>
      <select
        className={styles.select}
        aria-label={added.history.filter}
        value={value}
        onChange={(event) => onChange(asHistoryKind(event.target.value))}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
      <ListFilter className={styles.icon} size={20} aria-hidden />
      <ChevronDown className={styles.arrow} size={20} aria-hidden />
    </div>
  )
}
