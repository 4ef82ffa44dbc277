import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { DataMesin } from '@/shared/api/model'
import { added } from '@/shared/copy/added'
import { sisaWaktu } from '@/shared/lib/format'
import { useBeats } from '@/shared/realtime/beats'
import { serverNow } from '@/shared/realtime/clock'
import { watchMesin } from '@/shared/realtime/socket'
import { useCountdown } from '@/shared/realtime/use-countdown'
import { Card } from '@/shared/ui/card'
import styles from './pilih-layanan-page.module.css'

/** The machine's name, large: stickers get swapped, so it is to be compared with the one on the machine. */
export function MesinCard({ mesin }: { mesin: DataMesin }) {
  return (
    <Card className={styles.mesin}>
      <h2 className={styles.mesinNama}>{mesin.nama}</h2>
      <p className={styles.outlet}>
        {mesin.outlet.nama}, {mesin.outlet.kota}
      </p>
      {mesin.status === 'busy' ? (
        <Busy mesin={mesin} />
      ) : mesin.status === 'offline' ? (
        <p role="status" className={styles.state} data-state="offline">
          <strong>{added.layanan.offline}</strong> {added.layanan.offlineIsi}
        </p>
      ) : (
        <p className={styles.hint}>{added.layanan.cocokkan}</p>
      )}
    </Card>
  )
}

/** Time left of somebody else's run, live; when it is over the machine is asked about again. */
function Busy({ mesin }: { mesin: DataMesin }) {
  const client = useQueryClient()
  const idmesin = String(mesin.id)
  const beat = useBeats((state) => state.beats[idmesin])
  const [told] = useState(() => (mesin.tl === null ? null : serverNow() + mesin.tl))
  const left_s = useCountdown(beat ? beat.ends_at : told)

  useEffect(() => watchMesin(idmesin), [idmesin])
  const over = beat?.over || left_s === 0
  useEffect(() => {
    if (over) void client.invalidateQueries({ queryKey: ['layanan'] })
  }, [over, client])

  return (
    <div role="status" className={styles.state} data-state="busy">
      <strong>{added.layanan.sibuk}</strong>{' '}
      {left_s ? (
        <span aria-live="off">
          {added.layanan.sibukIsi} <span className={`angka ${styles.left}`}>{sisaWaktu(left_s * 1000)}</span>
        </span>
      ) : (
        added.layanan.sibukTanpaWaktu
      )}
    </div>
  )
}
