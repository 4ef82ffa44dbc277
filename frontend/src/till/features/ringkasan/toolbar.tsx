import { Calendar, Download, Printer } from 'lucide-react'
import { useState } from 'react'
import { useForm } from '@/shared/lib/form/use-form'
import { Button } from '@/shared/ui/button'
import { Dialog } from '@/shared/ui/dialog'
import { Field } from '@/shared/ui/field'
import { IconButton } from '@/shared/ui/icon-button'
import type { Period } from '@/till/api/figure-calls'
import type { ShopOutlet } from '@/till/api/types'
import { CHOICES, type Choice, faultOf, periodText } from './period'
import { ReportsDialog } from './reports-dialog'
import styles from './ringkasan.module.css'
import { ringkasan as copy } from './ringkasan-copy'

interface Props {
  here: ShopOutlet
  outlets: readonly ShopOutlet[]
  today: string
  chosen: Choice | Period
  period: Period
  onOutlet: (idoutlet: number) => void
  onPeriod: (period: Choice | Period) => void
}

/** Which outlet and which days, and what can be taken along. */
export function Toolbar({ here, outlets, today, chosen, period, onOutlet, onPeriod }: Props) {
  const [open, setOpen] = useState<'days' | 'reports' | null>(null)
  const close = () => setOpen(null)
  return (
    <div className={styles.tools}>
      {outlets.length > 1 && (
        <label className={styles.outlet}>
          <span className="visually-hidden">{copy.outlet}</span>
          <select value={here.idoutlet} onChange={(event) => onOutlet(Number(event.target.value))}>
            {outlets.map(({ idoutlet, nama, kota }) => (
              <option key={idoutlet} value={idoutlet}>{`${nama}, ${kota}`}</option>
            ))}
          </select>
        </label>
      )}
      <fieldset className={styles.choices}>
        <legend className="visually-hidden">{copy.period}</legend>
        {CHOICES.map((one) => (
          <button key={one} type="button" aria-pressed={one === chosen} onClick={() => onPeriod(one)}>
            {copy.choices[one]}
          </button>
        ))}
        <button type="button" aria-pressed={typeof chosen !== 'string'} onClick={() => setOpen('days')}>
          <Calendar size={18} aria-hidden />
          <span className={styles.otherDays}>
            {typeof chosen === 'string' ? copy.other : periodText(chosen)}
          </span>
        </button>
      </fieldset>
      <div className={styles.take}>
        <Button
          variant="secondary"
          className={styles.download}
          icon={<Download size={18} aria-hidden />}
          onClick={() => setOpen('reports')}
        >
          {copy.download}
        </Button>
        <IconButton label={copy.print} className={styles.print} onClick={() => window.print()}>
          <Printer size={20} aria-hidden />
        </IconButton>
      </div>
      {open === 'days' && (
        <DaysDialog
          period={period}
          today={today}
          onClose={close}
          onChoose={(days) => {
            close()
            onPeriod(days)
          }}
        />
      )}
      {open === 'reports' && <ReportsDialog idoutlet={here.idoutlet} period={period} onClose={close} />}
    </div>
  )
}

interface DaysProps {
  period: Period
  today: string
  onClose: () => void
  onChoose: (period: Period) => void
}

function DaysDialog({ period, today, onClose, onChoose }: DaysProps) {
  const [typed, setTyped] = useState(period)
  const { form, field } = useForm<'dari' | 'sampai'>(
    () => {
      const fault = faultOf(typed, today)
      if (fault === null) return {}
      return { [fault === 'missing' && !typed.dari ? 'dari' : 'sampai']: copy.faults[fault] }
    },
    () => onChoose(typed),
  )
  const day = (name: keyof Period) => ({
    ...field(name),
    type: 'date',
    value: typed[name],
    max: today,
    onChange: (event: { target: { value: string } }) => setTyped({ ...typed, [name]: event.target.value }),
  })
  return (
    <Dialog open onClose={onClose} title={copy.otherTitle}>
      <form {...form} className={styles.form}>
        <Field label={copy.from} {...day('dari')} />
        <Field label={copy.until} {...day('sampai')} hint={copy.untilHint} />
        <Button type="submit">{copy.show}</Button>
      </form>
    </Dialog>
  )
}
