import { useQuery } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { rupiah } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import { type Details, machineDetails } from '@/till/api/board-calls'
import type { Tile } from '@/till/api/types'
import { useNow } from '@/till/lib/page/clock'
import { useZone } from '@/till/lib/page/zone'
import { dateThere, momentThere } from '@/till/lib/page/zone-clock'
import { EventList } from '@/till/ui/event-list'
import { Rows } from '@/till/ui/rows'
import styles from './machine-details.module.css'
import { mesinCopy } from './mesin-copy'

const LOOK_AGAIN_MS = 15_000
/** Events that are shown at once. */
const NEWEST = 6
/** A weaker signal loses messages. */
const WEAK_DBM = -80

/** What has happened to a machine, how often it ran, and its device. */
export function MachineDetails({ tile: { id, keadaan, idtransaksi } }: { tile: Tile }) {
  const { data, isError, refetch } = useQuery({ ...machineDetails(id), refetchInterval: LOOK_AGAIN_MS })
  const again = useEffectEvent(() => void refetch())
  const before = useRef(keadaan + idtransaksi)
  useEffect(() => {
    if (before.current === keadaan + idtransaksi) return
    before.current = keadaan + idtransaksi
    again()
  }, [keadaan, idtransaksi])
  if (!data) return isError ? <p className={styles.quiet}>{mesinCopy.detailsFailed}</p> : null
  return (
    <>
      <History events={data.riwayat} />
      <Cycles cycles={data.siklus} />
      {data.koin && <Coins coins={data.koin} />}
      {data.perangkat && <Device device={data.perangkat} needsPulses={data.menyala.cara === 'pulsa'} />}
    </>
  )
}

function History({ events }: { events: Details['riwayat'] }) {
  const [all, setAll] = useState(false)
  const shown = all ? events : events.slice(0, NEWEST)
  return (
    <section className={styles.part} aria-label={mesinCopy.history}>
      <h3 className={styles.heading}>{mesinCopy.history}</h3>
      {events.length === 0 && <p className={styles.quiet}>{mesinCopy.historyNone}</p>}
      <EventList events={shown} />
      {events.length > shown.length && (
        <Button variant="quiet" onClick={() => setAll(true)}>
          {mesinCopy.historyMore(events.length - shown.length)}
        </Button>
      )}
    </section>
  )
}

function Cycles({ cycles }: { cycles: Details['siklus'] }) {
  const { hari_ini, tujuh_hari, sejak_servis, servis_tiap, servis_at } = cycles
  const zone = useZone()
  const last = servis_at
    ? mesinCopy.lastService(dateThere(Date.parse(servis_at), zone))
    : mesinCopy.neverServiced
  return (
    <section className={styles.part} aria-label={mesinCopy.cycles}>
      <h3 className={styles.heading}>{mesinCopy.cycles}</h3>
      <dl className={styles.figures}>
        <div>
          <dd className="digits">{hari_ini}</dd>
          <dt>{mesinCopy.today}</dt>
        </div>
        <div>
          <dd className="digits">{tujuh_hari}</dd>
          <dt>{mesinCopy.sevenDays}</dt>
        </div>
      </dl>
      {servis_tiap ? (
        <div className={styles.service} data-due={sejak_servis >= servis_tiap || undefined}>
          <p className={styles.line}>
            <span>{mesinCopy.sinceService}</span>
            <strong className="digits">{mesinCopy.ofEvery(sejak_servis, servis_tiap)}</strong>
          </p>
          <progress
            className={styles.bar}
            max={servis_tiap}
            value={Math.min(sejak_servis, servis_tiap)}
            aria-label={mesinCopy.sinceService}
          />
          {sejak_servis >= servis_tiap && <p className={styles.weak}>{mesinCopy.serviceDue}</p>}
          <p className={styles.quiet}>{last}</p>
        </div>
      ) : (
        <p className={styles.line}>
          <span>{mesinCopy.sinceService}</span>
          <strong className="digits">{sejak_servis}</strong>
        </p>
      )}
    </section>
  )
}

/** Coins that fell into the machine, as its board counted them. */
function Coins({ coins: { jumlah, hari_ini } }: { coins: NonNullable<Details['koin']> }) {
  return (
    <section className={styles.part} aria-label={mesinCopy.coins}>
      <h3 className={styles.heading}>{mesinCopy.coins}</h3>
      <Rows
        rows={[
          [mesinCopy.coinsToday, mesinCopy.coinsWorth(hari_ini.jumlah, rupiah(hari_ini.rupiah))],
          [mesinCopy.coinsAll, mesinCopy.coinCount(jumlah)],
        ]}
      />
    </section>
  )
}

interface DeviceProps {
  device: NonNullable<Details['perangkat']>
  needsPulses: boolean
}

function Device({ device, needsPulses }: DeviceProps) {
  const zone = useZone()
  const now = useNow(60_000)
  const { rssi, fw, hw, terdengar_at, menyala_s, kunci_sejak, sinyal, bisa, sebab_boot, sebab_tolak } = device
  const old = needsPulses && bisa !== null && !bisa.includes('pulse')
  const lost_min = Math.round(sinyal.reduce((sum, { putus }) => sum + putus, 0) / 60)
  const moment = (at: string | null | undefined) => (at ? momentThere(Date.parse(at), zone, now) : null)
  return (
    <section className={styles.part} aria-label={mesinCopy.device}>
      <h3 className={styles.heading}>{mesinCopy.device}</h3>
      <Signal hours={sinyal} />
      {rssi != null && rssi < WEAK_DBM && <p className={styles.weak}>{mesinCopy.weak}</p>}
      {old && <p className={styles.weak}>{mesinCopy.oldBoard}</p>}
      {lost_min > 0 && <p className={styles.quiet}>{mesinCopy.lost(lost_min)}</p>}
      <Rows
        rows={[
          [mesinCopy.signal, rssi == null ? null : mesinCopy.dbm(rssi)],
          [mesinCopy.firmware, fw ?? null],
          [mesinCopy.boardName, hw ?? null],
          [mesinCopy.can, bisa && mesinCopy.abilities(bisa)],
          [mesinCopy.heard, moment(terdengar_at)],
          [mesinCopy.on, menyala_s == null ? null : durationOf(menyala_s)],
          [mesinCopy.keySince, kunci_sejak ? dateThere(Date.parse(kunci_sejak), zone) : null],
          [mesinCopy.restarts, String(device.boot_hari_ini)],
          [mesinCopy.restartsWeek, String(device.boot_tujuh_hari)],
          [mesinCopy.bootWhy, sebab_boot && mesinCopy.bootReason(sebab_boot)],
          [mesinCopy.reconnects, String(device.sambung_hari_ini)],
          [mesinCopy.missed, mesinCopy.todayAndWeek(device.hilang_hari_ini, device.hilang_tujuh_hari)],
          [mesinCopy.answersIn, device.jawab_ms === null ? null : mesinCopy.seconds(device.jawab_ms)],
          [mesinCopy.refused, String(device.ditolak_tujuh_hari)],
          [mesinCopy.refusedLast, moment(device.ditolak_at)],
          [mesinCopy.refusedWhy, sebab_tolak && mesinCopy.refusedReason(sebab_tolak)],
          [mesinCopy.expired, String(device.kedaluwarsa_tujuh_hari)],
        ]}
      />
    </section>
  )
}

/** `4 j 12 m` */
function durationOf(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  return minutes < 60 ? `${minutes} m` : `${Math.floor(minutes / 60)} j ${minutes % 60} m`
}

const [WIDTH, HEIGHT] = [240, 48]
/** The range of the chart, dBm. */
const [LOW, HIGH] = [-95, -40]

/** The signal of the last 24 hours. The rows below say the same in words. */
function Signal({ hours }: { hours: NonNullable<Details['perangkat']>['sinyal'] }) {
  if (hours.filter(({ rssi }) => rssi != null).length < 2) return null
  const step = WIDTH / (hours.length - 1)
  const y = (rssi: number) => HEIGHT - ((Math.min(HIGH, Math.max(LOW, rssi)) - LOW) / (HIGH - LOW)) * HEIGHT
  let pen = 'M'
  const line = hours
    .map(({ rssi }, i) => {
      const move = rssi == null ? '' : `${pen}${(i * step).toFixed(1)} ${y(rssi).toFixed(1)}`
      pen = rssi == null ? 'M' : 'L'
      return move
    })
    .join('')
  return (
    <svg
      className={styles.signal}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {hours.map(({ jam, putus }, i) =>
        putus > 0 ? <rect key={jam} x={i * step - step / 2} width={step} height={HEIGHT} /> : null,
      )}
      <line x2={WIDTH} y1={y(WEAK_DBM)} y2={y(WEAK_DBM)} />
      <path d={line} />
    </svg>
  )
}
