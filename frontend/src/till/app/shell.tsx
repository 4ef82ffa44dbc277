import { LockKeyhole } from 'lucide-react'
import { Suspense, useEffect, useRef } from 'react'
import { initials } from '@/shared/lib/text/name'
import { IconButton } from '@/shared/ui/icon-button'
import { Spinner } from '@/shared/ui/spinner'
import { lock, useIdleLock, useWallLock } from '@/till/app/lock'
import {
  fetchManagement,
  fetchScreens,
  MANAGEMENT_RIGHTS,
  type Screen,
  screenAt,
  screens,
  till,
} from '@/till/app/screens'
import { fetchParts, useParts } from '@/till/features/till/use-parts'
import { useNow } from '@/till/lib/page/clock'
import { notify } from '@/till/lib/page/notices'
import { isWall, navigate, paths, useSearch } from '@/till/lib/page/router'
import { useZone, ZoneContext } from '@/till/lib/page/zone'
import { clockThere, JAKARTA } from '@/till/lib/page/zone-clock'
import { isCustomerCode, useScans } from '@/till/lib/scan/scans'
import { useLive } from '@/till/lib/session/live'
import { TECHNICIAN } from '@/till/lib/session/role-name'
import type { Session } from '@/till/lib/session/session'
import { useAttention } from '@/till/lib/session/use-attention'
import { useConnected } from '@/till/lib/session/use-connected'
import { useDevice, useSells } from '@/till/lib/session/use-device'
import { useMay, useMe } from '@/till/lib/session/use-me'
import { useShift } from '@/till/lib/shift/use-shift'
import { Link } from '@/till/ui/link'
import styles from './shell.module.css'

/** The frame around each screen: the navigation, who is logged in, since when, and the state of the connection. */
export function Shell({ path, session }: { path: string; session: Session }) {
  const screen = screenAt(path) ?? till
  const wall = isWall(useSearch()) && screen.path === paths.machines
  const bare = wall || screen.bare === true
  useIdleLock(session, wall)
  useWallLock(wall)
  const sells = useSells()
  useScanLeads(sells, session.petugas.role)
  useEffect(() => {
    void fetchScreens()
    fetchParts()
  }, [])
  const { FollowBills } = useParts()
  const manages = useMay()(MANAGEMENT_RIGHTS) === true
  useEffect(() => {
    if (manages) void fetchManagement()
  }, [manages])
  const { petugas } = session
  const Page = screen.page
  return (
    <ZoneContext value={useOnlyZone()}>
      {FollowBills && sells && <FollowBills />}
      <div className={styles.shell}>
        {!bare && <Navigation petugas={petugas} sells={sells} />}
        <div className={styles.side}>
          {!bare && <Header screen={screen} name={petugas.nama} />}
          {/* Without a control inside, the keyboard scrolls the wall itself. */}
          <main className={styles.main} tabIndex={wall ? 0 : undefined}>
            <Suspense fallback={<Spinner large />}>
              <Page />
            </Suspense>
          </main>
        </div>
      </div>
    </ZoneContext>
  )
}

/** The zone of the outlet in sight. Where there are several, a page says of each time whose it is. */
function useOnlyZone(): string {
  const { data } = useMe()
  return (data?.outlet.length === 1 && data.outlet[0]?.zona) || JAKARTA
}

/** A scanned customer's code leads to the till from every screen. */
function useScanLeads(sells: boolean, role: string): void {
  const waiting = useScans((state) => state.waiting)
  useEffect(() => {
    if (waiting === null) return
    if (sells && isCustomerCode(waiting)) return navigate(paths.till)
    useScans.getState().take()
    if (role === TECHNICIAN) notify.info('Teknisi tidak melayani pelanggan. Isi saldo lewat kasir.')
    else if (!sells) notify.info('Isi saldo hanya lewat tablet yang dipasang di outlet.')
    else notify.info('Itu stiker mesin. Pindai kode pelanggan.')
  }, [sells, role, waiting])
}

/** With more entries, the scan button included, a phone's bar has only icons. */
const MAX_WITH_LABELS = 5

function Navigation({ petugas: { nama, role }, sells }: Pick<Session, 'petugas'> & { sells: boolean }) {
  const may = useMay()
  const offered = screens.filter(
    (one) =>
      !one.unlisted &&
      (sells || !one.sells) &&
      (!one.rights || may(one.rights)) &&
      (role !== TECHNICIAN || one.path === paths.machines),
  )
  // On a phone the scan button is in the middle.
  const half = Math.ceil(offered.length / 2)
  return (
    <nav
      className={styles.nav}
      aria-label="Menu kasir"
      data-many={offered.length + Number(sells) > MAX_WITH_LABELS || undefined}
    >
      <ul className={styles.entries}>
        {offered.slice(0, half).map((one) => (
          <Entry key={one.path} screen={one} />
        ))}
        {sells && (
          <li className={styles.scanEntry}>
            <Link to={till.path} className={styles.scan}>
              <span className={styles.scanCircle}>
                <till.icon size={28} aria-hidden />
              </span>
              <span className={styles.scanLabel}>{till.title}</span>
            </Link>
          </li>
        )}
        {offered.slice(half).map((one) => (
          <Entry key={one.path} screen={one} />
        ))}
      </ul>
      <button type="button" className={styles.person} onClick={lock}>
        <span className={styles.avatar} aria-hidden="true">
          {initials(nama)}
        </span>
        <span className={styles.personName}>
          <LockKeyhole size={14} aria-hidden />
          <span className="visually-hidden">Kunci kasir, </span>
          <span>{nama}</span>
        </span>
      </button>
    </nav>
  )
}

function Entry({ screen: { path, title, icon: Icon } }: { screen: Screen }) {
  return (
    <li>
      <Link to={path} className={styles.entry}>
        <span className={styles.icon}>
          <Icon size={24} aria-hidden />
          {path === paths.attention && <AttentionBadge />}
        </span>
        <span className={styles.label}>{title}</span>
      </Link>
    </li>
  )
}

/** Maximum age of the number; the board asks at once when its strip changes. */
const ASK_ATTENTION_MS = 30_000
const MAX_SHOWN = 99

/** How many entries need a person. */
function AttentionBadge() {
  const count = useAttention(ASK_ATTENTION_MS).data?.length ?? 0
  if (count === 0) return null
  return (
    <span className={styles.badge} translate="no">
      <span aria-hidden="true">{Math.min(count, MAX_SHOWN)}</span>
      <span className="visually-hidden">{`${count} perlu perhatian, `}</span>
    </span>
  )
}

function Header({ screen, name }: { screen: Screen; name: string }) {
  const device = useDevice().data
  const place = device?.outlet?.nama ?? device?.perangkat.nama ?? ''
  const shift = useShift(useSells()).data?.shift
  const zone = useZone()
  const since = shift && `shift sejak ${clockThere(Date.parse(shift.dibuka_at), zone)}`
  const heading = useRef<HTMLHeadingElement>(null)
  const first = useRef(true)
  useEffect(() => {
    document.title = `${screen.title} · Kasir Nyala`
    // A screen reader announces the screen after a change; not the first one.
    if (!first.current) heading.current?.focus({ preventScroll: true })
    first.current = false
  }, [screen])
  return (
    <header className={styles.header}>
      <div className={styles.titles}>
        <h1 ref={heading} tabIndex={-1} className={styles.title}>
          {screen.title}
        </h1>
        <p className={styles.place}>{place}</p>
        <p className={styles.since}>
          <span className={styles.sincePlace}>{place && since ? `${place} · ` : place}</span>
          <span className={styles.sinceName}>{since ? `${name} · ` : name}</span>
          {since && <span>{since}</span>}
        </p>
      </div>
      <LineState />
      <IconButton label={`Kunci kasir, ${name}`} className={styles.lock} onClick={lock}>
        <LockKeyhole size={22} aria-hidden />
      </IconButton>
    </header>
  )
}

/** The state of the connection, and the time. */
function LineState() {
  const connected = useConnected()
  const live = useLive(({ is }) => is !== 'down')
  const now = useNow(60_000)
  const text = connected ? (live ? 'Terhubung' : 'Menyambung…') : 'Terputus'
  return (
    <p className={styles.line} data-down={!(connected && live) || undefined}>
      <span className={styles.dot} aria-hidden="true" />
      <span role="status" className={styles.lineWords}>
        {text}
      </span>
      <span className="digits" translate="no">
        {clockThere(now, useZone())}
      </span>
    </p>
  )
}
