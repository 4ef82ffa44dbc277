import { useState } from 'react'
import { Button } from '@/shared/ui/button'
import { Empty } from '@/shared/ui/empty'
import { Failed } from '@/shared/ui/failed'
import type { Me } from '@/till/api/types'
import { navigate, paths, usePath, useSearch } from '@/till/lib/page/router'
import { ZoneContext } from '@/till/lib/page/zone'
import { useMe } from '@/till/lib/session/use-me'
import { AccessView } from './akses/access-view'
import { buka } from './buka/buka-copy'
import { Opening } from './buka/opening'
import styles from './kelola.module.css'
import { kelola } from './kelola-copy'
import { MachinesView } from './mesin/machines-view'
import { StaffView } from './orang/staff-view'
import { TillsView } from './orang/tills-view'
import { OutletView } from './outlet-view'
import { PackagesView } from './paket/packages-view'
import { CustomersView } from './pelanggan/customers-view'
import { ServicesView } from './services-view'
import { StickersView } from './stiker/stickers-view'

/** The parts, by their name in the address (`?bagian=`). */
type Part =
  | 'layanan'
  | 'mesin'
  | 'paket'
  | 'petugas'
  | 'perangkat'
  | 'pelanggan'
  | 'stiker'
  | 'akses'
  | 'outlet'
const PARTS: Record<Part, { title: string; rights: readonly string[] }> = {
  layanan: { title: kelola.services, rights: ['layanan.buat', 'layanan.ubah'] },
  mesin: { title: kelola.machines, rights: ['mesin.buat', 'mesin.ubah'] },
  paket: { title: kelola.packages, rights: ['paket.buat', 'paket.ubah'] },
  petugas: { title: kelola.staff, rights: ['petugas.kelola'] },
  perangkat: { title: kelola.tills, rights: ['perangkat.kelola'] },
  pelanggan: { title: kelola.customers, rights: ['pelanggan.lihat'] },
  stiker: { title: kelola.stickers, rights: ['mesin.stiker'] },
  akses: { title: kelola.access, rights: ['kunci.kelola', 'audit.lihat'] },
  outlet: { title: kelola.outlet, rights: ['outlet.tutup', 'outlet.buka', 'outlet.ubah'] },
}

/** What a supervisor or an owner changes: services, prices, the outlet. Nothing is drawn before the rights are known. */
export default function ManagePage() {
  const me = useMe()
  const path = usePath()
  if (me.data) return path === paths.opening ? <Opening me={me.data} /> : <Manage me={me.data} />
  if (!me.isError) return null
  return <Failed error={me.error} pending={me.isFetching} onRetry={() => void me.refetch()} />
}

function Manage({ me }: { me: Me }) {
  const [chosen, setChosen] = useState<number | null>(null)
  const named = new URLSearchParams(useSearch()).get('bagian')
  const place = me.outlet.find(({ idoutlet }) => idoutlet === chosen) ?? me.outlet[0]
  const offered = (Object.keys(PARTS) as Part[]).filter((one) =>
    PARTS[one].rights.some((right) => me.hak.includes(right)),
  )
  const shown = offered.find((one) => one === named) ?? offered[0]
  if (!place || !shown) {
    const begin = me.hak.includes('outlet.buat') && (
      <Button onClick={() => navigate(paths.opening)}>{buka.begin}</Button>
    )
    return <Empty title={kelola.noOutlet} body={kelola.noOutletBody} action={begin || undefined} />
  }
  return (
    <div className={styles.page}>
      <div className={styles.top}>
        {me.outlet.length > 1 && (
          <label className={styles.place}>
            <span className={styles.label}>{kelola.outlet}</span>
            <select
              className={styles.select}
              value={place.idoutlet}
              onChange={(event) => setChosen(Number(event.target.value))}
            >
              {me.outlet.map(({ idoutlet, nama, kota }) => (
                <option key={idoutlet} value={idoutlet}>{`${nama}, ${kota}`}</option>
              ))}
            </select>
          </label>
        )}
        <nav className={styles.parts} aria-label={kelola.parts}>
          {offered.map((one) => (
            <button
              key={one}
              type="button"
              className={styles.part}
              aria-pressed={one === shown}
              ref={one === shown ? intoView : undefined}
              onClick={() => navigate(`${paths.manage}?bagian=${one}`)}
            >
              {PARTS[one].title}
            </button>
          ))}
        </nav>
      </div>
      <div className={styles.content}>
        <ZoneContext value={place.zona}>
          <View key={place.idoutlet} part={shown} me={me} place={place} />
        </ZoneContext>
      </div>
    </div>
  )
}

/** On a phone the parts are a strip that is wider than the screen. */
const intoView = (node: HTMLElement | null) => node?.scrollIntoView({ block: 'nearest', inline: 'center' })

interface ViewProps {
  part: Part
  me: Me
  place: Me['outlet'][number]
}

function View({ part, me, place: { idoutlet, zona } }: ViewProps) {
  switch (part) {
    case 'layanan':
      return <ServicesView me={me} idoutlet={idoutlet} zone={zona} />
    case 'mesin':
      return <MachinesView me={me} idoutlet={idoutlet} />
    case 'paket':
      return <PackagesView me={me} idoutlet={idoutlet} />
    case 'petugas':
      return <StaffView me={me} idoutlet={idoutlet} />
    case 'perangkat':
      return <TillsView me={me} idoutlet={idoutlet} />
    case 'pelanggan':
      return <CustomersView zone={zona} />
    case 'stiker':
      return <StickersView me={me} idoutlet={idoutlet} />
    case 'akses':
      return <AccessView me={me} idoutlet={idoutlet} zone={zona} />
    case 'outlet':
      return <OutletView me={me} idoutlet={idoutlet} />
  }
}
