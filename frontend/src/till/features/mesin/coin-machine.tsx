import { useState } from 'react'
import { useForm } from '@/shared/lib/form/use-form'
import { onlyDigits } from '@/shared/lib/text/digits'
import { Button } from '@/shared/ui/button'
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

/** Sends coin pulses to a closed machine, to see that it counts them. */
export function PulseTest({ id, nama, calls, children }: Props) {
  return (
    <NumbersForm
      label={mesinCopy.pulses}
      fields={[{ name: 'pulsa', label: mesinCopy.pulsesCount, most: 5 }]}
      now={{ pulsa: 1 }}
      submit={mesinCopy.pulsesSend}
      calls={calls}
      onSubmit={({ pulsa }) => calls.send(mesinCopy.pulsesWhat(nama, pulsa), pulseTestOf(id, pulsa))}
    >
      <p>{mesinCopy.pulsesBody}</p>
      {children}
    </NumbersForm>
  )
}

const TIMINGS = [
  { name: 'lebar_ms', label: mesinCopy.width, most: 5_999 },
  { name: 'jeda_ms', label: mesinCopy.gap, most: 5_999 },
  { name: 'sense_s', label: mesinCopy.still, most: 3_600 },
] as const

/** The timings of a closed coin machine. */
export function Timings({ id, nama, calls, children, now }: Props & { now: Details['menyala'] }) {
  return (
    <NumbersForm
      label={mesinCopy.timings}
      fields={TIMINGS}
      now={now}
      submit={mesinCopy.timingsSave}
      calls={calls}
      onSubmit={(timings) => calls.send(mesinCopy.timingsWhat(nama), timingsOf(id, timings))}
    >
      {children}
    </NumbersForm>
  )
}

interface FormProps<K extends string> {
  label: string
  /** Each from 1 to `most`. */
  fields: readonly { name: K; label: string; most: number }[]
  now: Record<K, number>
  /** The button's text. */
  submit: string
  calls: Money<unknown>
  onSubmit: (numbers: Record<K, number>) => void
  children: Elements
}

function NumbersForm<K extends string>(props: FormProps<K>) {
  const { label, fields, now, submit, calls, onSubmit, children } = props
  const connected = useConnected()
  const [typed, setTyped] = useState(() =>
    Object.fromEntries(fields.map(({ name }) => [name, String(now[name])])),
  )
  const { form, field } = useForm<K>(
    () => {
      const wrong = fields.filter(
        ({ name, most }) => !(Number(typed[name]) >= 1 && Number(typed[name]) <= most),
      )
      return Object.fromEntries(wrong.map(({ name, most }) => [name, mesinCopy.outOfRange(most)])) as {
        [name in K]?: string
      }
    },
    () =>
      onSubmit(
        Object.fromEntries(fields.map(({ name }) => [name, Number(typed[name])])) as Record<K, number>,
      ),
  )
  return (
    <View label={label}>
      <form {...form} className={styles.actions}>
        {children}
        {fields.map(({ name, label: text, most }) => (
          <Field
            key={name}
            label={text}
            {...field(name)}
            inputMode="numeric"
            autoComplete="off"
            disabled={calls.pending}
            value={typed[name]}
            onChange={({ target }) =>
              setTyped({ ...typed, [name]: onlyDigits(target.value).slice(0, String(most).length) })
            }
          />
        ))}
        {calls.fault && (
          <p role="alert" className={styles.fault}>
            {calls.fault}
          </p>
        )}
        <Button type="submit" pending={calls.pending} disabled={!connected && !calls.pending}>
          {submit}
        </Button>
      </form>
    </View>
  )
}
