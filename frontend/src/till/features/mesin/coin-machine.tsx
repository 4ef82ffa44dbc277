import { useState } from 'react'
import { useForm } from '@/shared/lib/form/use-form'
import { onlyDigits } from '@/shared/lib/text/digits'
import { Button } from '@/shared/ui/button'
import { Chips } from '@/shared/ui/chips'
import type { Elements } from '@/shared/ui/elements'
import { Field } from '@/shared/ui/field'
import { type Details, pulseTestOf, timingsOf } from '@/till/api/board-calls'
import type { Money } from '@/till/lib/money/use-money'
import { useConnected } from '@/till/lib/session/use-connected'
import { View } from '@/till/ui/view'
import styles from './machine-panel.module.css'
import { mesinCopy } from './mesin-copy'

interface Props {
  id: number
  nama: string
  calls: Money<unknown>
  /** Above the fields. */
  children: Elements
}

/** The most that the server sends at once. */
const PULSES = [1, 2, 3, 4, 5] as const

/** Sends coin pulses to a closed machine, to see that it counts them. */
export function PulseTest({ id, nama, calls, children }: Props) {
  const connected = useConnected()
  const [n, setN] = useState<number>(1)
  return (
    <View label={mesinCopy.pulses}>
      <p>{mesinCopy.pulsesBody}</p>
      {children}
      <Chips
        label={mesinCopy.pulsesCount}
        options={PULSES.map((one) => ({ value: one, text: String(one) }))}
        chosen={[n]}
        disabled={calls.pending}
        onChoose={setN}
      />
      <Fault calls={calls} />
      <Button
        pending={calls.pending}
        disabled={!connected && !calls.pending}
        onClick={() => calls.send(mesinCopy.pulsesWhat(nama, n), pulseTestOf(id, n))}
      >
        {mesinCopy.pulsesSend(n)}
      </Button>
    </View>
  )
}

/** Each timing with its greatest value. */
const MOST = { lebar_ms: 5_999, jeda_ms: 5_999, sense_s: 3_600 } as const
type Timing = keyof typeof MOST
const TIMINGS = Object.keys(MOST) as Timing[]

/** The timings of a closed coin machine. */
export function Timings({ id, nama, calls, children, now }: Props & { now: Details['menyala'] }) {
  const connected = useConnected()
  const [typed, setTyped] = useState(() => ({
    lebar_ms: String(now.lebar_ms),
    jeda_ms: String(now.jeda_ms),
    sense_s: String(now.sense_s),
  }))
  const { form, field } = useForm<Timing>(
    () => {
      const wrong = TIMINGS.filter((one) => !(Number(typed[one]) >= 1 && Number(typed[one]) <= MOST[one]))
      return Object.fromEntries(wrong.map((one) => [one, mesinCopy.timingWrong(MOST[one])]))
    },
    () => {
      const of = (one: Timing) => Number(typed[one])
      const timings = { lebar_ms: of('lebar_ms'), jeda_ms: of('jeda_ms'), sense_s: of('sense_s') }
      calls.send(mesinCopy.timingsWhat(nama), timingsOf(id, timings))
    },
  )
  return (
    <View label={mesinCopy.timings}>
      <form {...form} className={styles.actions}>
        {children}
        {TIMINGS.map((one) => (
          <Field
            key={one}
            label={mesinCopy.timing[one]}
            {...field(one)}
            inputMode="numeric"
            autoComplete="off"
            disabled={calls.pending}
            value={typed[one]}
            onChange={(event) => setTyped({ ...typed, [one]: onlyDigits(event.target.value).slice(0, 4) })}
          />
        ))}
        <Fault calls={calls} />
        <Button type="submit" pending={calls.pending} disabled={!connected && !calls.pending}>
          {mesinCopy.timingsSave}
        </Button>
      </form>
    </View>
  )
}

function Fault({ calls: { fault } }: Pick<Props, 'calls'>) {
  return fault ? (
    <p role="alert" className={styles.fault}>
      {fault}
    </p>
  ) : null
}
