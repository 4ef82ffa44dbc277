import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schemas } from '@/shared/api/model'
import { useForm } from '@/shared/lib/form/use-form'
import { Chips } from '@/shared/ui/chips'
import { Field } from '@/shared/ui/field'
import { keys } from '@/till/api/keys'
import { addOutlet, changeOutlet } from '@/till/api/shop-calls'
import type { Me, ShopOutlet } from '@/till/api/types'
import { clockText, minuteOf, parseClock } from '@/till/lib/page/clock-text'
import shared from '../kelola.module.css'
import { formSlot, useKeptForm } from '../kept-form'
import { outlet as outletCopy } from '../outlet-copy'
import { useSave } from '../use-save'
import { buka } from './buka-copy'
import { StepFrame } from './step-frame'
import { TOWNS, type Zone } from './towns'

interface Typed {
  nama: string
  kota: string
  alamat: string
  zona: string
  mulai: string
  sepanjang: boolean
  buka: string
  tutup: string
}

const EMPTY: Typed = {
  nama: '',
  kota: '',
  alamat: '',
  zona: 'Asia/Jakarta',
  mulai: '04.00',
  sepanjang: true,
  buka: '07.00',
  tutup: '22.00',
}

const NOON_MIN = 12 * 60

function typedOf(here: ShopOutlet | null): Typed {
  if (!here) return EMPTY
  const { nama, kota, alamat, zona, hari_mulai, jam_buka, jam_tutup } = here
  const sepanjang = jam_buka === null || (jam_buka === '00:00' && jam_tutup === '24:00')
  return {
    nama,
    kota,
    alamat,
    zona,
    mulai: clockText(hari_mulai),
    sepanjang,
    buka: sepanjang ? EMPTY.buka : clockText(jam_buka ?? ''),
    tutup: sepanjang ? EMPTY.tutup : clockText(jam_tutup ?? ''),
  }
}

function faultsOf({ nama, kota, mulai, sepanjang, buka: opens, tutup }: Typed) {
  const start = parseClock(mulai)
  const from = parseClock(opens)
  return {
    ...(nama.trim() === '' && { nama: buka.nameMissing }),
    ...(kota === '' && { kota: buka.townMissing }),
    ...((start === null || minuteOf(start) > NOON_MIN) && { mulai: buka.dayStartWrong }),
    ...(!sepanjang && (from === null || from === '24:00') && { buka: buka.opensWrong }),
    ...(!sepanjang && parseClock(tutup) === null && { tutup: buka.closesWrong }),
  }
}

const dataOf = ({ nama, kota, alamat, zona, mulai, sepanjang, buka: opens, tutup }: Typed) => ({
  nama: nama.trim(),
  kota,
  alamat: alamat.trim(),
  zona: zona as Schemas['ZoneName'],
  hari_mulai: parseClock(mulai),
  jam_buka: sepanjang ? '00:00' : parseClock(opens),
  jam_tutup: sepanjang ? '24:00' : parseClock(tutup),
})

/** The first step of an outlet that does not exist yet: no lock may lose it. */
const draft = formSlot<Typed>('buka', ({ sepanjang }) => typeof sepanjang === 'boolean')
/** No outlet has this id. */
const NEW = 0

interface Props {
  me: Me
  /** Null: a new one. */
  here: ShopOutlet | null
  onDone: (idoutlet: number) => void
}

/** Name, town, address and hours. */
export function OutletStep({ me, here, onDone }: Props) {
  const client = useQueryClient()
  const [before] = useState(() => typedOf(here))
  const of = { who: me.id, idoutlet: here?.idoutlet ?? NEW, id: null }
  const { form: typed, edit, ...kept } = useKeptForm(draft, of, before)
  const saving = useSave<number>({
    ...kept,
    async onDone(id) {
      draft.clear()
      await Promise.all([keys.outlets, keys.me].map((queryKey) => client.invalidateQueries({ queryKey })))
      onDone(id)
    },
  })

  async function request(key: string): Promise<number> {
    const data = dataOf(typed)
    if (here) {
      await changeOutlet(here.idoutlet, data)
      return here.idoutlet
    }
    const town = TOWNS.find(({ name }) => name === typed.kota)
    const { idoutlet } = await addOutlet(key, {
      ...data,
      idowner: me.idowner ?? 0,
      latitude: town?.latitude ?? 0,
      longitude: town?.longitude ?? 0,
      persiapan: true,
    })
    return idoutlet
  }

  const changed = JSON.stringify(typed) !== JSON.stringify(before)
  const { form, field } = useForm<keyof Typed>(
    () => faultsOf(typed),
    () => (here && !changed ? onDone(here.idoutlet) : saving.save(request)),
  )
  const text = (name: 'nama' | 'alamat' | 'mulai' | 'buka' | 'tutup') => ({
    ...field(name),
    value: typed[name],
    autoComplete: 'off',
    onChange: (event: { target: { value: string } }) => edit({ [name]: event.target.value }),
  })
  const clock = (name: 'mulai' | 'buka' | 'tutup') => ({
    ...text(name),
    inputMode: 'decimal' as const,
    maxLength: 5,
  })
  const { invalid, fault, faultId } = field('kota')
  const towns = TOWNS.map(({ name }) => name)
  return (
    <StepFrame
      saving={saving}
      label={buka.next[0]}
      form={form}
      onBack={null}
      onAgain={() => saving.again(request)}
    >
      <div className={shared.panel}>
        <Field label={buka.name} {...text('nama')} maxLength={100} />
        <label className={shared.place}>
          <span className={shared.label}>{buka.town}</span>
          <select
            className={shared.select}
            value={typed.kota}
            aria-invalid={invalid}
            aria-describedby={faultId}
            onChange={(event) => {
              const town = TOWNS.find(({ name }) => name === event.target.value)
              edit({ kota: event.target.value, ...(town && { zona: town.zone }) })
            }}
          >
            <option value="">{buka.townNone}</option>
            {[...(typed.kota && !towns.includes(typed.kota) ? [typed.kota] : []), ...towns].map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        {fault && (
          <p id={faultId} role="alert" className={shared.fault}>
            {fault}
          </p>
        )}
        <Field label={buka.address} {...text('alamat')} maxLength={500} />
        <Chips
          label={buka.zone}
          options={Object.entries(outletCopy.zones).map(([value, name]) => ({
            value: value as Zone,
            text: name,
          }))}
          chosen={[typed.zona as Zone]}
          onChoose={(zona) => edit({ zona })}
        />
        <Field label={buka.dayStart} {...clock('mulai')} hint={buka.dayStartHint} />
        <label className={shared.check}>
          <input
            type="checkbox"
            checked={typed.sepanjang}
            onChange={(event) => edit({ sepanjang: event.target.checked })}
          />
          <span>{buka.allDay}</span>
        </label>
        {!typed.sepanjang && (
          <div className={shared.pair}>
            <Field label={buka.opens} {...clock('buka')} />
            <Field label={buka.closes} {...clock('tutup')} />
          </div>
        )}
      </div>
    </StepFrame>
  )
}
