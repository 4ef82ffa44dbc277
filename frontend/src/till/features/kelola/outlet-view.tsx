import { useQuery, useQueryClient } from '@tanstack/react-query'
import { DoorClosed, DoorOpen, Pencil } from 'lucide-react'
import { useState } from 'react'
import { useSubmit } from '@/shared/lib/form/use-submit'
import { Button } from '@/shared/ui/button'
import { Failed } from '@/shared/ui/failed'
import { Spinner } from '@/shared/ui/spinner'
import { getOutlets } from '@/till/api/calls'
import { keys } from '@/till/api/keys'
import { openOutlet } from '@/till/api/shop-calls'
import type { Me, ShopOutlet } from '@/till/api/types'
import { useNow } from '@/till/lib/page/clock'
import { clockText } from '@/till/lib/page/clock-text'
import { reasonOf } from '@/till/lib/page/explain'
import { notify } from '@/till/lib/page/notices'
import { navigate, paths } from '@/till/lib/page/router'
import { momentThere, zoneName } from '@/till/lib/page/zone-clock'
import { useConnected } from '@/till/lib/session/use-connected'
import { Rows } from '@/till/ui/rows'
import { buka } from './buka/buka-copy'
import { ClosingDialog } from './closing-dialog'
import styles from './kelola.module.css'
import { outlet as copy } from './outlet-copy'
import { OutletDialog } from './outlet-dialog'

/** A closing may end by itself. */
const LOOK_AGAIN_MS = 30_000

/** Whether the outlet is open, and its data. */
export function OutletView({ me, idoutlet }: { me: Me; idoutlet: number }) {
  const outlets = useQuery({
    queryKey: keys.outlets,
    queryFn: ({ signal }) => getOutlets(signal),
    refetchInterval: LOOK_AGAIN_MS,
  })
  const here = outlets.data?.find((one) => one.idoutlet === idoutlet)
  if (!here) {
    if (!outlets.isError) return <Spinner large />
    return (
      <Failed error={outlets.error} pending={outlets.isFetching} onRetry={() => void outlets.refetch()} />
    )
  }
  return (
    <div className={styles.outlet}>
      <State here={here} hak={me.hak} />
      <Data here={here} hak={me.hak} />
      {me.hak.includes('outlet.buat') && (
        <Button variant="secondary" onClick={() => navigate(paths.opening)}>
          {buka.begin}
        </Button>
      )}
    </div>
  )
}

interface Props {
  here: ShopOutlet
  hak: readonly string[]
}

function State({ here, hak }: Props) {
  const client = useQueryClient()
  const connected = useConnected()
  const [closing, setClosing] = useState(false)
  const opening = useSubmit(
    async () => {
      await openOutlet(here.idoutlet)
      notify.info(copy.openNow(here.nama))
      await client.invalidateQueries({ queryKey: keys.outlets })
    },
    (error) => notify.failure(reasonOf(error)),
  )
  const { tutup, zona } = here
  const preparing = here.dibuka_at === null
  const now = useNow(60_000)
  const at = (instant: string) => momentThere(Date.parse(instant), zona, now)
  return (
    <section className={styles.panel} aria-labelledby="keadaan" data-closed={tutup !== null || undefined}>
      <div className={styles.panelHead}>
        {tutup ? <DoorClosed size={24} aria-hidden /> : <DoorOpen size={24} aria-hidden />}
        <h2 id="keadaan" className={styles.panelTitle}>
          {preparing ? copy.preparing : tutup ? copy.closed : copy.open}
        </h2>
      </div>
      {tutup ? (
        <>
          <p>
            <strong>{tutup.alasan}</strong>
          </p>
          <p className={styles.second}>{copy.since(at(tutup.sejak))}</p>
          <p className={styles.second}>{tutup.sampai ? copy.opensAt(at(tutup.sampai)) : copy.opensByHand}</p>
        </>
      ) : (
        <p className={styles.second}>{preparing ? copy.preparingBody : copy.openBody}</p>
      )}
      {tutup && hak.includes('outlet.buka') && (
        <Button
          pending={opening.pending}
          disabled={!connected && !opening.pending}
          onClick={() => opening.submit()}
        >
          {copy.reopen}
        </Button>
      )}
      {preparing && hak.includes('outlet.buat') && (
        <Button onClick={() => navigate(`${paths.opening}?outlet=${here.idoutlet}`)}>{buka.goOn}</Button>
      )}
      {!preparing && hak.includes('outlet.tutup') && (
        <Button variant={tutup ? 'secondary' : 'danger'} onClick={() => setClosing(true)}>
          {tutup ? copy.changeClosing : copy.close}
        </Button>
      )}
      {closing && <ClosingDialog here={here} onClose={() => setClosing(false)} />}
    </section>
  )
}

function Data({ here, hak }: Props) {
  const [open, setOpen] = useState(false)
  const { nama, kota, alamat, zona, hari_mulai, jam_buka, jam_tutup, qris } = here
  const hours = jam_buka && jam_tutup ? `${clockText(jam_buka)}–${clockText(jam_tutup)}` : copy.noHours
  return (
    <section className={styles.panel} aria-labelledby="data">
      <h2 id="data" className={styles.panelTitle}>
        {copy.data}
      </h2>
      <Rows
        rows={[
          [copy.name, nama],
          [copy.city, kota],
          [copy.address, alamat],
          [copy.hours, hours],
          [copy.zone, zoneName(zona)],
          [copy.dayStart, clockText(hari_mulai)],
          [copy.qris, copy.qrisKinds[qris] ?? qris],
        ]}
      />
      {hak.includes('outlet.ubah') && (
        <Button variant="secondary" icon={<Pencil size={18} aria-hidden />} onClick={() => setOpen(true)}>
          {copy.change}
        </Button>
      )}
      {open && <OutletDialog here={here} onClose={() => setOpen(false)} />}
    </section>
  )
}
