import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schemas } from '@/shared/api/model'
import { useForm } from '@/shared/lib/form/use-form'
import { Chips } from '@/shared/ui/chips'
import { Dialog } from '@/shared/ui/dialog'
import { Field } from '@/shared/ui/field'
import { keys } from '@/till/api/keys'
import { changeOutlet } from '@/till/api/shop-calls'
import type { ShopOutlet } from '@/till/api/types'
import { clockText, minuteOf, parseClock } from '@/till/lib/page/clock-text'
import { notify } from '@/till/lib/page/notices'
import styles from './kelola.module.css'
import { kelola } from './kelola-copy'
import { outlet as copy } from './outlet-copy'
import { SaveFoot } from './save-foot'
import { useSave } from './use-save'

type Typed = Record<'nama' | 'kota' | 'alamat' | 'zona' | 'buka' | 'tutup' | 'mulai' | 'qris', string>

/** How an outlet takes QRIS. */
type QrisMode = 'off' | 'manual' | 'midtrans' | 'simulated'

const NOON_MIN = 12 * 60
const time = (clock: string | null) => (clock === null ? '' : clockText(clock))
/** The clock time that is typed; null for none. */
const clockOf = (text: string) => (text.trim() === '' ? null : (parseClock(text) ?? undefined))

const typedOf = ({ nama, kota, alamat, zona, hari_mulai, jam_buka, jam_tutup, qris }: ShopOutlet): Typed => ({
  nama,
  kota,
  alamat,
  zona,
  buka: time(jam_buka),
  tutup: time(jam_tutup),
  mulai: time(hari_mulai),
  qris,
})

function faultsOf({ nama, kota, buka, tutup, mulai }: Typed) {
  const start = parseClock(mulai)
  const opens = clockOf(buka)
  return {
    ...(nama.trim() === '' && { nama: copy.nameMissing }),
    ...(kota.trim() === '' && { kota: copy.cityMissing }),
    ...((opens === undefined || opens === '24:00') && { buka: copy.opensWrong }),
    ...(clockOf(tutup) === undefined && { tutup: copy.closesWrong }),
    ...((start === null || minuteOf(start) > NOON_MIN) && { mulai: copy.dayStartWrong }),
  }
}

/** What differs from the stored outlet. */
function changeOf(typed: Typed, here: ShopOutlet): Schemas['OutletChange'] {
  const before = typedOf(here)
  const is = (field: keyof Typed) => typed[field].trim() !== before[field]
  return {
    ...(is('nama') && { nama: typed.nama.trim() }),
    ...(is('kota') && { kota: typed.kota.trim() }),
    ...(is('alamat') && { alamat: typed.alamat.trim() }),
    ...(is('zona') && { zona: typed.zona as Schemas['ZoneName'] }),
    ...(is('buka') && { jam_buka: clockOf(typed.buka) ?? null }),
    ...(is('tutup') && { jam_tutup: clockOf(typed.tutup) ?? null }),
    ...(is('qris') && { qris: typed.qris as QrisMode }),
    ...(is('mulai') && { hari_mulai: parseClock(typed.mulai) }),
  }
}

/** The outlet's data, for its owner. */
export function OutletDialog({ here, onClose }: { here: ShopOutlet; onClose: () => void }) {
  const client = useQueryClient()
  const [typed, setTyped] = useState(() => typedOf(here))
  const change = changeOf(typed, here)
  const changed = Object.keys(change).length > 0
  const saving = useSave<null>({
    onDone() {
      notify.info(kelola.saved(typed.nama.trim()))
      for (const queryKey of [keys.outlets, keys.me, keys.device]) void client.invalidateQueries({ queryKey })
      onClose()
    },
  })
  const request = () => changeOutlet(here.idoutlet, change)
  const { form, field } = useForm<keyof Typed>(
    () => faultsOf(typed),
    () => (changed ? saving.save(request) : onClose()),
  )
  const busy = saving.pending || saving.open
  const text = (name: keyof Typed) => ({
    ...field(name),
    value: typed[name],
    autoComplete: 'off',
    onChange: (event: { target: { value: string } }) => setTyped({ ...typed, [name]: event.target.value }),
  })
  const clock = (name: keyof Typed) => ({ ...text(name), inputMode: 'decimal' as const, maxLength: 5 })
  // Without real money: offered only where a developer has chosen it.
  const kinds = Object.keys(copy.qrisKinds).filter((one) => one !== 'simulated' || here.qris === one)
  const zones = [...new Set([...Object.keys(copy.zones), here.zona])]
  return (
    <Dialog open onClose={onClose} title={copy.data} locked={saving.pending} typed={changed && !busy}>
      <form {...form} className={styles.form}>
        <fieldset className={styles.fields} disabled={busy}>
          <Field label={copy.name} {...text('nama')} maxLength={100} />
          <Field label={copy.city} {...text('kota')} maxLength={100} />
          <Field label={copy.address} {...text('alamat')} maxLength={500} />
          <div className={styles.pair}>
            <Field label={copy.opens} {...clock('buka')} hint={copy.hoursHint} />
            <Field label={copy.closes} {...clock('tutup')} />
          </div>
          <Chips
            label={copy.zone}
            options={zones.map((one) => ({ value: one, text: copy.zones[one] ?? one }))}
            chosen={[typed.zona]}
            onChoose={(zona) => setTyped({ ...typed, zona })}
          />
          <p className={styles.second}>{copy.zoneBody}</p>
          <Field label={copy.dayStart} {...clock('mulai')} hint={copy.dayStartHint} />
          <Chips
            label={copy.qris}
            options={kinds.map((one) => ({ value: one, text: copy.qrisKinds[one] ?? one }))}
            chosen={[typed.qris]}
            onChoose={(qris) => setTyped({ ...typed, qris })}
          />
          <p className={styles.second}>{copy.qrisBody[typed.qris]}</p>
        </fieldset>
        <SaveFoot saving={saving} label={copy.save} onAgain={() => saving.again(request)} />
      </form>
    </Dialog>
  )
}
