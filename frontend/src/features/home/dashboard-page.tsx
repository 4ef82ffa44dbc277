import { useQuery } from '@tanstack/react-query'
import { ChevronRight, WashingMachine } from 'lucide-react'
import { type ComponentType, useEffect, useState } from 'react'
import { Link } from 'react-router'
import type { Failure } from '@/shared/api/asked'
import { lastUseQuery } from '@/shared/api/last-use'
import type { AkunEpay } from '@/shared/api/model'
import { copy } from '@/shared/copy/copy'
import { later } from '@/shared/copy/later'
import { useAgeShown } from '@/shared/lib/page/age-shown'
import { paths } from '@/shared/lib/page/paths'
import { whenIdle } from '@/shared/lib/page/when-idle'
import { unfinished } from '@/shared/lib/session/purchases'
import { isOnDashboard } from '@/shared/lib/text/epay'
import { formatDateTime, rupiah } from '@/shared/lib/text/format'
import { fullName } from '@/shared/lib/text/name'
import { serverNow } from '@/shared/realtime/clock'
import { Failed } from '@/shared/ui/failed'
import { PageTitle } from '@/shared/ui/page'
import { Spinner } from '@/shared/ui/spinner'
import { AgainCard } from './again-card'
import styles from './dashboard-page.module.css'
import { EpayCards } from './epay-cards'
import cards from './epay-cards.module.css'
import { GuideCard } from './guide-card'
import { RunningList, useDone } from './running-list'
import { useDashboard } from './use-dashboard'

export default function DashboardPage() {
  const { dashboard, epay, failure, age_ms } = useDashboard()
  const { done, onDone } = useDone()
  if (dashboard.kind !== 'shown' && failure) return <NotLoaded {...failure} />
  const customer = dashboard.kind === 'shown' ? dashboard.data.customer_global : null
  const purchases = dashboard.kind === 'shown' ? unfinished(dashboard.data) : []
  const accounts = epay.kind === 'shown' ? shown(epay.data) : null
  // A snapshot kept by a version before this field lacks it.
  const left = dashboard.kind === 'shown' ? (dashboard.data.menunggu ?? []) : []
  const settled = dashboard.kind === 'shown' && epay.kind !== 'loading'
  const idle = settled && purchases.length === 0 && done.length === 0
  return (
    <main className={styles.page}>
      <header>
        <div className={customer ? `two-lines ${styles.greeting}` : styles.nameSkeleton}>
          {customer && <span className={styles.hello}>{copy.dashboard.greeting}</span>}{' '}
          {/* The same title element before and after loading, so that it takes the focus once. */}
          <PageTitle className={customer ? styles.name : 'visually-hidden'} name={copy.bar.home}>
            {customer ? fullName(customer) : copy.bar.home}
          </PageTitle>
        </div>
        {accounts && accounts.length > 1 && <Total accounts={accounts} />}
      </header>
      {failure && (
        <Stale {...failure}>
          {dashboard.kind === 'shown' && epay.kind === 'shown'
            ? copy.dashboard.dataAsOf(formatDateTime(age_ms))
            : copy.dashboard.loadFailed}
        </Stale>
      )}
      {settled && <PendingMove />}
      {/* Both parts appear at once, so that nothing is pushed down. */}
      {settled && <RunningList purchases={purchases} done={done} left={left} onDone={onDone} />}
      {epay.kind === 'loading' && <Waiting />}
      {accounts && <EpayCards accounts={accounts} />}
      {accounts && accounts.length > 0 && <FreeMachines />}
      {idle && <Idle />}
    </main>
  )
}

/** Rare, so its file and its request wait for an idle phone. */
function PendingMove() {
  const [Card, setCard] = useState<ComponentType | null>(null)
  useEffect(() => {
    whenIdle()
      .then(() => import('./pending-move'))
      .then(
        (file) => setCard(() => file.default),
        // The next visit tries again.
        () => undefined,
      )
  }, [])
  return Card && <Card />
}

function FreeMachines() {
  return (
    <Link to={paths.outlets} className={styles.free}>
      <WashingMachine size={20} aria-hidden />
      <span>{later.freeMachines}</span>
      <ChevronRight size={20} aria-hidden />
    </Link>
  )
}

/** Both cards appear at once, here too. */
function Idle() {
  const { data: last, isLoading } = useQuery(lastUseQuery())
  if (isLoading) return null
  return (
    <>
      {last && <AgainCard last={last} />}
      <GuideCard />
    </>
  )
}

function Total({ accounts }: { accounts: AkunEpay[] }) {
  const sum = accounts.reduce((total, { quota_emoney }) => total + (quota_emoney?.saldo ?? 0), 0)
  return (
    <p className={styles.total}>
      {copy.dashboard.total}{' '}
      <strong className="digits" translate="no">
        {rupiah(sum)}
      </strong>
    </p>
  )
}

/** Notes that the visible data is old. */
function Stale({ pending, onRetry, children }: Failure & { children: string }) {
  useEffect(() => {
    useAgeShown.setState({ shown: true })
    return () => useAgeShown.setState({ shown: false })
  }, [])
  return (
    <div className={styles.stale}>
      <span role="status">{children}</span>
      <button
        type="button"
        className={styles.retry}
        aria-label={copy.common.tryAgain}
        aria-disabled={pending || undefined}
        aria-busy={pending || undefined}
        onClick={() => !pending && onRetry()}
      >
        {pending ? <Spinner /> : copy.common.tryAgain}
      </button>
    </div>
  )
}

function shown(accounts: AkunEpay[]): AkunEpay[] {
  const now = serverNow()
  return accounts.filter((account) => isOnDashboard(account, now))
}

function Waiting() {
  return (
    <div className={cards.skeleton} aria-busy="true">
      <span className="visually-hidden">{copy.common.loading}</span>
    </div>
  )
}

function NotLoaded(failure: Failure) {
  return (
    <main className={styles.page}>
      <PageTitle className="visually-hidden" name={copy.bar.home}>
        {copy.bar.home}
      </PageTitle>
      <Failed body={copy.dashboard.loadFailed} {...failure} />
    </main>
  )
}
