import { useState } from 'react'
import { rupiah } from '@/shared/lib/text/format'
import { ExtraKey, Keypad } from '@/till/ui/keypad'
import styles from './amount-pad.module.css'

/** The maximum of a single movement of money. */
export const MAX_AMOUNT = 20_000_000

interface Props {
  label: string
  value: number
  /** The largest possible amount. */
  max?: number
  /** The first digit replaces the current amount. */
  replace?: boolean
  onChange: (value: number) => void
  onEnter?: () => void
}

/** An amount in rupiah on the till's own keypad. */
export function AmountPad({ label, value, max = MAX_AMOUNT, replace = false, onChange, onEnter }: Props) {
  const [fresh, setFresh] = useState(replace)
  function add(digits: string) {
    const longer = Number(`${fresh ? '' : value}${digits}`)
    if (longer > max) return
    setFresh(false)
    onChange(longer)
  }
  return (
    <div className={styles.amount}>
      <p className={styles.label}>{label}</p>
      <output className={`digits ${styles.value}`} aria-label={label} translate="no">
        {rupiah(value)}
      </output>
      <Keypad
        label={label}
        className={styles.keypad}
        onDigits={add}
        onBack={() => {
          setFresh(false)
          onChange(fresh ? 0 : Math.floor(value / 10))
        }}
        remember={() => () => {
          setFresh(fresh)
          onChange(value)
        }}
        {...(onEnter ? { onEnter } : {})}
        extra={<ExtraKey onClick={() => add('000')}>000</ExtraKey>}
      />
    </div>
  )
}
