import { useState } from 'react'
import { Empty } from '@/shared/ui/empty'
import { Failed } from '@/shared/ui/failed'
import type { Me } from '@/till/api/types'
import { useMe } from '@/till/lib/session/use-me'
import styles from './kelola.module.css'
import { kelola } from './kelola-copy'
import { OutletView } from './outlet-view'
import { ServicesView } from './services-view'

type Part = 'services' | 'outlet'
const PARTS: Record<Part, { title: string; rights: readonly string[] }> = {
  services: { title: kelola.services, rights: ['layanan.buat', 'layanan.ubah'] },
  outlet: { title: kelola.outlet, rights: ['outlet.tutup', 'outlet.buka', 'outlet.ubah'] },
}

/** What a supervisor or an owner changes: services, prices, the outlet. Nothing is drawn before the rights are known. */
export default function ManagePage() {
  const me = useMe()
  if (me.data) return <Manage me={me.data} />
  if (!me.isError) return null
  return <Failed error={me.error} pending={me.isFetching} onRetry={() => void me.refetch()} />
}

function Manage({ me }: { me: Me }) {
  const [chosen, setChosen] = useState<number | null>(null)
  const [part, setPart] = useState<Part | null>(null)
  const place = me.outlet.find(({ idoutlet }) => idoutlet === chosen) ?? me.outlet[0]
  const offered = (Object.keys(PARTS) as Part[]).filter((one) =>
    PARTS[one].rights.some((right) => me.hak.includes(right)),
  )
  const shown = part ?? offered[0]
  if (!place || !shown) return <Empty title={kelola.noOutlet} body={kelola.noOutletBody} />
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
              onClick={() => setPart(one)}
            >
              {PARTS[one].title}
            </button>
          ))}
        </nav>
      </div>
      <div className={styles.content}>
        {shown === 'services' ? (
          <ServicesView key={place.idoutlet} me={me} idoutlet={place.idoutlet} zone={place.zona} />
        ) : (
          <OutletView key={place.idoutlet} me={me} idoutlet={place.idoutlet} />
        )}
      </div>
    </div>
  )
}
