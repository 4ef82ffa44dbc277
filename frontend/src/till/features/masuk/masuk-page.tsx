import { ArrowLeft, Banknote } from 'lucide-react'
import { useEffect, useState } from 'react'
import { clockTime } from '@/shared/lib/text/format'
import { initials } from '@/shared/lib/text/name'
import { Failed } from '@/shared/ui/failed'
import { IconButton } from '@/shared/ui/icon-button'
import { Kawung } from '@/shared/ui/kawung'
import { Spinner } from '@/shared/ui/spinner'
import type { Person, ThisDevice } from '@/till/api/types'
import { useNow } from '@/till/lib/page/clock'
import { useScans } from '@/till/lib/scan/scans'
import { roleName } from '@/till/lib/session/role-name'
import { useSession } from '@/till/lib/session/session'
import { useConnected } from '@/till/lib/session/use-connected'
import { useDevice } from '@/till/lib/session/use-device'
import { OpenTopUps } from '@/till/ui/open-top-ups'
import { LogIn } from './log-in'
import styles from './masuk-page.module.css'

/** Chooses a member of staff and asks for their PIN. */
export default function LogInPage() {
  const device = useDevice()
  const [chosen, setChosen] = useState<number | null>(null)
  const now = useNow(1_000)
  const ended = useSession((state) => state.ended)
  useEffect(() => {
    document.title = 'Masuk · Kasir Nyala'
  }, [])

  const people =
    device.data?.petugas.map((one) => ({ ...one, until: waitsUntil(one, device.dataUpdatedAt) })) ?? []
  // With only one member of staff there is nothing to choose.
  const alone = people.length === 1 ? people[0] : undefined
  const person = people.find(({ id }) => id === chosen) ?? alone
  return (
    <main className={styles.page} data-chosen={person ? true : undefined}>
      <section className={styles.people} aria-labelledby="siapa">
        <h1 id="siapa" className={styles.title}>
          Siapa yang bertugas?
        </h1>
        {device.data ? (
          <>
            <p className={styles.place}>{placeOf(device.data)}</p>
            {ended !== null && (
              <p role="status" className={styles.ended}>
                {`Sesi ${ended} sudah berakhir. Masuk lagi dengan PIN.`}
              </p>
            )}
            <ul className={styles.list}>
              {people.map((one) => (
                <li key={one.id}>
                  <PersonButton
                    person={one}
                    until={one.until > now ? one.until : null}
                    chosen={one.id === person?.id}
                    onChoose={() => setChosen(one.id)}
                  />
                </li>
              ))}
            </ul>
            {people.length === 0 && <p>Belum ada petugas di outlet ini. Minta supervisor menambahkannya.</p>}
            <OpenTopUps />
            <Foot device={device.data} />
          </>
        ) : device.isError ? (
          <Failed error={device.error} pending={device.isFetching} onRetry={() => void device.refetch()} />
        ) : (
          <Spinner large />
        )}
      </section>
      <section className={styles.pin} aria-label="PIN">
        <Kawung />
        <div className={styles.pinContent}>
          {person && !alone && (
            <IconButton label="Pilih nama lain" className={styles.back} onClick={() => setChosen(null)}>
              <ArrowLeft size={24} aria-hidden />
            </IconButton>
          )}
          <LogIn
            // Another member of staff starts with an empty PIN.
            key={person?.id ?? 'nobody'}
            person={person ?? null}
            waits={person !== undefined && (person.dikunci || person.until > now)}
          />
        </div>
      </section>
    </main>
  )
}

/** Epoch ms until which a member of staff has to wait; the server sends seconds, counted from its answer. */
const waitsUntil = ({ tunggu_s }: Person, answered_at: number) =>
  tunggu_s > 0 ? answered_at + tunggu_s * 1_000 : 0

const placeOf = ({ outlet, perangkat }: ThisDevice) =>
  outlet ? `${outlet.nama} · ${perangkat.nama}` : perangkat.nama

interface PersonProps {
  person: Person
  until: number | null
  chosen: boolean
  onChoose: () => void
}

function PersonButton({ person, until, chosen, onChoose }: PersonProps) {
  const { nama, role, dikunci } = person
  const waits = dikunci || until !== null
  return (
    <button
      type="button"
      className={styles.person}
      aria-pressed={chosen}
      data-waits={waits || undefined}
      onClick={onChoose}
    >
      <span className={styles.avatar} aria-hidden="true">
        {initials(nama)}
      </span>
      <span className={styles.who}>
        <span className={styles.name}>{nama}</span>
        <span className={styles.role}>
          {`${roleName(role)}${dikunci ? ', dikunci' : until === null ? '' : `, dikunci sampai ${clockTime(until)}`}`}
        </span>
      </span>
    </button>
  )
}

function Foot({ device }: { device: ThisDevice }) {
  const connected = useConnected()
  const scanned = useScans(({ waiting }) => waiting !== null)
  return (
    <div className={styles.foot}>
      {scanned && <p role="status">Kode sudah dipindai dan menunggu PIN Anda.</p>}
      <p className={styles.line} data-down={!connected || undefined}>
        <span className={styles.dot} aria-hidden="true" />
        <span role="status">{connected ? 'Terhubung' : 'Terputus'}</span>
      </p>
      {device.shift && (
        <p className={styles.line}>
          <Banknote size={18} aria-hidden />
          <span>{`Shift terbuka sejak ${clockTime(device.shift.dibuka_at)}`}</span>
        </p>
      )}
    </div>
  )
}
