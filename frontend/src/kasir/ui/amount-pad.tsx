import { ExtraKey, Keypad } from '@/kasir/ui/keypad'
import { rupiah } from '@/shared/lib/format'
import styles from './amount-pad.module.css'

/** The most that a single movement of money may be. */
export const MOST = 20_000_000

interface Props {
  label: string
  value: number
  onChange: (value: number) => void
  onEnter?: () => void
}

/** Rupiah on a keypad of our own. */
export function AmountPad({ label, value, onChange, onEnter }: Props) {
  function add(digits: string) {
    const longer = Number(`${value}${digits}`)
    if (longer <= MOST) onChange(longer)
  }
  return (
    <div className={styles.amount}>
      <p className={styles.label}>{label}</p>
      <output className={`digits ${styles.value}`} aria-label={label}>
        {rupiah(value)}
      </output>
      <Keypad
        label={label}
        className={styles.keypad}
        onDigits={add}
        onBack={() => onChange(Math.floor(value / 10))}
        {...(onEnter ? { onEnter } : {})}
        extra={<ExtraKey onClick={() => add('000')}>000</ExtraKey>}
      />
    </div>
  )
}
