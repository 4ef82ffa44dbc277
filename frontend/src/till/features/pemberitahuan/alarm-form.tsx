import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useForm } from '@/shared/lib/form/use-form'
import { useSubmit } from '@/shared/lib/form/use-submit'
import { Button } from '@/shared/ui/button'
import { Field } from '@/shared/ui/field'
import { type Alarm, alertKeys, setAlarm } from '@/till/api/alert-calls'
import type { Me } from '@/till/api/types'
import { clockText, parseClock } from '@/till/lib/page/clock-text'
import { reasonOf } from '@/till/lib/page/explain'
import { notify } from '@/till/lib/page/notices'
import { useConnected } from '@/till/lib/session/use-connected'
import { pemberitahuan as copy } from './pemberitahuan-copy'
import styles from './pemberitahuan-page.module.css'

const URGENT = ['perlu_petugas', 'ditutup_sistem', 'tanpa_bayar', 'outlet_putus']
/** Of an owner alone. */
const BACKUP = 'cadangan'
const FIRST_QUIET = { dari: '22.00', sampai: '07.00' }

const toggled = <T,>(all: readonly T[], one: T): T[] =>
  all.includes(one) ? all.filter((other) => other !== one) : [...all, one]

/** What a person chooses for all their browsers. */
export function AlarmForm({ me, alarm }: { me: Me; alarm: Alarm }) {
  const client = useQueryClient()
  const connected = useConnected()
  const [typed, setTyped] = useState(alarm)
  const [quiet, setQuiet] = useState(() =>
    alarm.senyap
      ? { dari: clockText(alarm.senyap.dari), sampai: clockText(alarm.senyap.sampai) }
      : FIRST_QUIET,
  )
  const [from, until] = [parseClock(quiet.dari), parseClock(quiet.sampai)]
  const [fault, setFault] = useState('')
  const { jenis, idoutlet, senyap, ringkasan } = typed
  const change = (part: Partial<Alarm>) => setTyped({ ...typed, ...part })
  const kinds = Object.keys(copy.kindNames).filter((kind) => kind !== BACKUP || me.role === 'owner')

  const { pending, submit } = useSubmit(
    async () => {
      setFault('')
      const saved = await setAlarm({ ...typed, senyap: senyap && { dari: from ?? '', sampai: until ?? '' } })
      client.setQueryData(alertKeys.alarm, saved)
      setTyped(saved)
      notify.info(copy.saved)
    },
    (error) => setFault(reasonOf(error)),
  )
  const { form, field } = useForm<'outlet' | 'dari' | 'sampai'>(
    () => ({
      ...(idoutlet?.length === 0 && { outlet: copy.outletMissing }),
      ...(senyap && (from === null || from === '24:00') && { dari: copy.fromWrong }),
      ...(senyap && until === null && { sampai: copy.toWrong }),
      ...(senyap && from !== null && from === until && { sampai: copy.timesEqual }),
    }),
    () => submit(),
  )
  const outletFault = field('outlet')
  const time = (name: 'dari' | 'sampai') => ({
    ...field(name),
    inputMode: 'decimal' as const,
    autoComplete: 'off',
    maxLength: 5,
    value: quiet[name],
    onChange: (event: { target: { value: string } }) => setQuiet({ ...quiet, [name]: event.target.value }),
  })
  return (
    <form {...form} className={styles.form}>
      <fieldset className={styles.group} disabled={pending}>
        <legend className={styles.title}>{copy.kinds}</legend>
        {kinds.map((kind) => (
          <Check
            key={kind}
            name={copy.kindNames[kind] ?? kind}
            second={URGENT.includes(kind) ? copy.urgent : undefined}
            checked={jenis.includes(kind)}
            onChange={() => change({ jenis: toggled(jenis, kind) })}
          />
        ))}
      </fieldset>
      {me.outlet.length > 1 && (
        <fieldset className={styles.group} disabled={pending}>
          <legend className={styles.title}>{copy.outlets}</legend>
          <Check
            name={copy.allOutlets}
            checked={idoutlet === null}
            onChange={() => change({ idoutlet: idoutlet === null ? [] : null })}
          />
          {idoutlet !== null &&
            me.outlet.map((one) => (
              <Check
                key={one.idoutlet}
                name={`${one.nama}, ${one.kota}`}
                checked={idoutlet.includes(one.idoutlet)}
                invalid={outletFault.invalid}
                onChange={() => change({ idoutlet: toggled(idoutlet, one.idoutlet) })}
              />
            ))}
          {outletFault.fault && (
            <p role="alert" className={styles.fault}>
              {outletFault.fault}
            </p>
          )}
        </fieldset>
      )}
      <fieldset className={styles.group} disabled={pending}>
        <legend className="visually-hidden">{copy.quiet}</legend>
        <Check
          name={copy.quiet}
          second={copy.quietWhat}
          checked={senyap !== null}
          onChange={() => change({ senyap: senyap === null ? { dari: '', sampai: '' } : null })}
        />
        {senyap !== null && (
          <div className={styles.pair}>
            <Field label={copy.quietFrom} {...time('dari')} />
            <Field label={copy.quietTo} {...time('sampai')} />
          </div>
        )}
      </fieldset>
      {me.hak.includes('ringkasan.lihat') && (
        <fieldset className={styles.group} disabled={pending}>
          <legend className="visually-hidden">{copy.digest}</legend>
          <Check
            name={copy.digest}
            second={copy.digestWhat}
            checked={ringkasan}
            onChange={() => change({ ringkasan: !ringkasan })}
          />
        </fieldset>
      )}
      {fault && (
        <p role="alert" className={styles.fault}>
          {fault}
        </p>
      )}
      <Button type="submit" pending={pending} disabled={!connected && !pending}>
        {copy.save}
      </Button>
    </form>
  )
}

interface CheckProps {
  name: string
  second?: string | undefined
  checked: boolean
  invalid?: boolean | undefined
  onChange: () => void
}

function Check({ name, second, checked, invalid, onChange }: CheckProps) {
  return (
    <label className={styles.check}>
      <input type="checkbox" checked={checked} aria-invalid={invalid || undefined} onChange={onChange} />
      <span className={styles.words}>
        <span>{name}</span>
        {second && <span className={styles.second}>{second}</span>}
      </span>
    </label>
  )
}
