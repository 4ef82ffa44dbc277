import { ChevronDown, ListFilter } from 'lucide-react'
import { copy } from '@/shared/copy/copy'
import { asHistoryKind, type HistoryKind } from './calls'
import styles from './filter.module.css'

const choices: { value: HistoryKind; label: string }[] = [
  { value: '', label: copy.history.all },
  { value: 'snap_transaksi', label: copy.history.machineUse },
  { value: 'pembelian_emoney', label: copy.history.topUps },
]

/** The phone's native list of choices. */
export function Filter({ value, onChange }: { value: HistoryKind; onChange: (kind: HistoryKind) => void }) {
  return (
    <div className={styles.box}>
      <select
        className={styles.select}
        aria-label={copy.history.filter}
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
