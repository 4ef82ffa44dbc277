import { useState } from 'react'
import { useForm } from '@/shared/lib/form/use-form'
import type { Faults } from '@/shared/lib/form/validate'
import { onlyDigits } from '@/shared/lib/text/digits'
import { Button } from '@/shared/ui/button'
import { Chips } from '@/shared/ui/chips'
import { Dialog, Foot } from '@/shared/ui/dialog'
import { Field } from '@/shared/ui/field'
import type { PriceRule } from '@/till/api/shop-calls'
import { clockText, parseClock } from '@/till/lib/page/clock-text'
import styles from './kelola.module.css'
import { layanan } from './layanan-copy'
import { priceFault } from './service-form'

const WEEK = [1, 2, 3, 4, 5, 6, 7]

interface Typed {
  hari: number[]
  dari: string
  sampai: string
  harga: string
}

const typedOf = (rule: PriceRule | null): Typed =>
  rule
    ? {
        hari: rule.hari,
        dari: clockText(rule.dari),
        sampai: clockText(rule.sampai),
        harga: String(rule.harga),
      }
    : { hari: WEEK, dari: '', sampai: '', harga: '' }

/** The end of a day is its 24.00, and no other day's 00.00. */
const endOf = (text: string): string | null => {
  const time = parseClock(text)
  return time === '00:00' ? '24:00' : time
}

function faultsOf({ hari, dari, sampai, harga }: Typed): Faults<'hari' | 'dari' | 'sampai' | 'harga'> {
  const from = parseClock(dari)
  const until = endOf(sampai)
  return {
    ...(hari.length === 0 && { hari: layanan.daysMissing }),
    ...((from === null || from === '24:00') && { dari: layanan.fromWrong }),
    ...(until === null && { sampai: layanan.toWrong }),
    ...(until !== null && until === from && { sampai: layanan.sameTimes }),
    ...priceFault(harga),
  }
}

interface Props {
  /** Null: a new one. */
  rule: PriceRule | null
  onClose: () => void
  onUse: (rule: PriceRule) => void
  onRemove: () => void
}

/** One price by hour. It is saved with its service. */
export function RuleDialog({ rule, onClose, onUse, onRemove }: Props) {
  const [typed, setTyped] = useState(() => typedOf(rule))
  const edit = (part: Partial<Typed>) => setTyped({ ...typed, ...part })
  const faults = faultsOf(typed)
  const { form, field } = useForm(
    () => faults,
    () => {
      const { hari, harga } = typed
      const [dari, sampai] = [parseClock(typed.dari), endOf(typed.sampai)]
      if (dari && sampai) onUse({ hari: [...hari].sort((a, b) => a - b), dari, sampai, harga: Number(harga) })
    },
  )
  const { fault: daysFault } = field('hari')
  const toggle = (day: number) =>
    edit({ hari: typed.hari.includes(day) ? typed.hari.filter((one) => one !== day) : [...typed.hari, day] })
  return (
    <Dialog
      open
      onClose={onClose}
      title={layanan.ruleTitle}
      typed={JSON.stringify(typed) !== JSON.stringify(typedOf(rule))}
    >
      <form {...form} className={styles.form}>
        <Chips
          label={layanan.ruleDays}
          options={WEEK.map((day) => ({
            value: day,
            text: layanan.days[day - 1] ?? '',
            name: layanan.fullDays[day - 1] ?? '',
          }))}
          chosen={typed.hari}
          onChoose={toggle}
        />
        {daysFault && (
          <p role="alert" className={styles.fault}>
            {daysFault}
          </p>
        )}
        <div className={styles.pair}>
          <Field
            label={layanan.from}
            {...field('dari')}
            data-initial
            hint={layanan.clockHint}
            inputMode="decimal"
            autoComplete="off"
            maxLength={5}
            value={typed.dari}
            onChange={(event) => edit({ dari: event.target.value })}
          />
          <Field
            label={layanan.to}
            {...field('sampai')}
            hint={layanan.clockHint}
            inputMode="decimal"
            autoComplete="off"
            maxLength={5}
            value={typed.sampai}
            onChange={(event) => edit({ sampai: event.target.value })}
          />
        </div>
        <Field
          label={layanan.rulePrice}
          {...field('harga')}
          prefix="Rp"
          inputMode="numeric"
          autoComplete="off"
          value={typed.harga}
          onChange={(event) => edit({ harga: onlyDigits(event.target.value).slice(0, 9) })}
        />
        <Foot>
          <Button type="submit">{layanan.useRule}</Button>
          {rule && (
            <Button variant="danger" onClick={onRemove}>
              {layanan.removeRule}
            </Button>
          )}
        </Foot>
      </form>
    </Dialog>
  )
}
