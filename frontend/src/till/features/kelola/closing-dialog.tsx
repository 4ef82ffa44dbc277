import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useForm } from '@/shared/lib/form/use-form'
import { Chips } from '@/shared/ui/chips'
import { Dialog } from '@/shared/ui/dialog'
import { Field } from '@/shared/ui/field'
import { keys } from '@/till/api/keys'
import { closeOutlet } from '@/till/api/shop-calls'
import type { ShopOutlet } from '@/till/api/types'
import { useServerNow } from '@/till/lib/page/clock'
import { minuteOf, parseClock } from '@/till/lib/page/clock-text'
import { notify } from '@/till/lib/page/notices'
import { clockThere, nextAt } from '@/till/lib/page/zone-clock'
import styles from './kelola.module.css'
import { outlet as copy } from './outlet-copy'
import { SaveFoot } from './save-foot'
import { useSave } from './use-save'

/** The server's limit. */
const LONGEST = 500

/** Closes the whole outlet, with a reason that customers see; again with another reason or time. */
export function ClosingDialog({ here, onClose }: { here: ShopOutlet; onClose: () => void }) {
  const client = useQueryClient()
  const before = here.tutup?.alasan ?? ''
  const known = copy.reasons.find((one) => one === before)
  const [chosen, setChosen] = useState<string | null>(before === '' ? null : (known ?? copy.other))
  const [written, setWritten] = useState(known ? '' : before)
  const opened = here.tutup?.sampai ? clockThere(Date.parse(here.tutup.sampai), here.zona) : ''
  const [time, setTime] = useState(opened)
  const now_ms = useServerNow()

  const reason = chosen === copy.other ? written.trim() : (chosen ?? '')
  const clock = time.trim() === '' ? undefined : parseClock(time)
  const opens = clock && clock !== '24:00' ? nextAt(minuteOf(clock), here.zona, now_ms) : null
  const faults = {
    ...(reason === '' && { reason: copy.reasonMissing }),
    ...((clock === null || clock === '24:00') && { until: copy.untilWrong }),
  }

  const saving = useSave<null>({
    onDone() {
      notify.info(copy.closedNow(here.nama))
      void client.invalidateQueries({ queryKey: keys.outlets })
      onClose()
    },
  })
  const sampai = opens && new Date(opens.at_ms).toISOString()
  const request = () => closeOutlet(here.idoutlet, { alasan: reason, sampai })
  const { form, field } = useForm<'reason' | 'until'>(
    () => faults,
    () => saving.save(request),
  )
  const busy = saving.pending || saving.open
  const reasonFault = field('reason')
  return (
    <Dialog
      open
      onClose={onClose}
      title={copy.closingTitle}
      locked={saving.pending}
      typed={!busy && (reason !== before || time !== opened)}
    >
      <form {...form} className={styles.form}>
        <p className={styles.second}>{copy.closingBody}</p>
        <fieldset className={styles.fields} disabled={busy}>
          <Chips
            label={copy.reason}
            options={[...copy.reasons, copy.other].map((one) => ({ value: one, text: one }))}
            chosen={chosen === null ? [] : [chosen]}
            onChoose={setChosen}
          />
          {chosen === copy.other ? (
            <Field
              label={copy.otherReason}
              {...reasonFault}
              value={written}
              maxLength={LONGEST}
              autoComplete="off"
              onChange={(event) => setWritten(event.target.value)}
            />
          ) : (
            reasonFault.fault && (
              <p role="alert" className={styles.fault}>
                {reasonFault.fault}
              </p>
            )
          )}
          <Field
            label={copy.until}
            {...field('until')}
            hint={opens ? undefined : copy.untilHint}
            inputMode="decimal"
            autoComplete="off"
            maxLength={5}
            value={time}
            onChange={(event) => setTime(event.target.value)}
          />
          {opens && (
            <p role="status" className={styles.second}>
              {(opens.tomorrow ? copy.untilTomorrow : copy.untilToday)(clockThere(opens.at_ms, here.zona))}
            </p>
          )}
        </fieldset>
        <SaveFoot saving={saving} label={copy.close} onAgain={() => saving.again(request)} />
      </form>
    </Dialog>
  )
}
