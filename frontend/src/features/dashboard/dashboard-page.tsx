import type { AkunEpay } from '@/shared/api/model'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { isOnDashboard } from '@/shared/lib/epay'
import { formatDateTime } from '@/shared/lib/format'
import { KEEP_CLEAR } from '@/shared/lib/free-top'
import { fullName } from '@/shared/lib/name'
import { serverNow } from '@/shared/realtime/clock'
import { Failed } from '@/shared/ui/failed'
import { PageTitle } from '@/shared/ui/page'
import { Spinner } from '@/shared/ui/spinner'
import styles from './dashboard-page.module.css'
import { EpayCards } from './epay-cards'
import cards from './epay-cards.module.css'
import { GuideCard } from './guide-card'
import { RunningList, useDone } from './running-list'
import { unfinished, useDashboard } from './use-dashboard'

export default function DashboardPage() {
  const { dashboard, epay, age_ms } = useDashboard()
  const failed = dashboard.error ?? epay.error
  const pending = dashboard.isFetching || epay.isFetching
  const retry = () => void Promise.all([dashboard.refetch(), epay.refetch()])

  if (!dashboard.data && failed) return <NotLoaded error={failed} pending={pending} onRetry={retry} />
  const customer = dashboard.data?.customer_global
  return (
    <main className={styles.page}>
      {customer ? (
        <header className={`two-lines ${styles.greeting}`} {...KEEP_CLEAR}>
          <span className={styles.hello}>{added.dashboard.greeting}</span>{' '}
          <PageTitle className={styles.name} name={spec.home}>
            {fullName(customer)}
          </PageTitle>
        </header>
      ) : (
        <div className={styles.nameSkeleton} />
      )}
      {failed && (
        <div className={styles.stale} {...KEEP_CLEAR}>
          <span role="status">
            {dashboard.data && epay.data
              ? added.dashboard.dataAsOf(formatDateTime(age_ms))
              : added.dashboard.loadFailed}
          </span>
          <button
            type="button"
            className={styles.retry}
            aria-label={added.common.tryAgain}
            aria-disabled={pending || undefined}
            aria-busy={pending || undefined}
            onClick={() => !pending && retry()}
          >
            {pending ? <Spinner /> : added.common.tryAgain}
          </button>
        </div>
      )}
      {epay.data ? <EpayCards accounts={shown(epay.data)} /> : epay.isPending && <Waiting />}
      {/* Below the balances, and not before them, so that nothing is pushed down. */}
      {dashboard.data && !epay.isPending && <Machines purchases={unfinished(dashboard.data)} />}
    </main>
  )
}

function Machines({ purchases }: { purchases: ReturnType<typeof unfinished> }) {
  const { done, onDone } = useDone()
  if (purchases.length === 0 && done.length === 0) return <GuideCard />
  return <RunningList purchases={purchases} done={done} onDone={onDone} />
}

function shown(accounts: AkunEpay[]): AkunEpay[] {
  const now = serverNow()
  return accounts.filter((account) => isOnDashboard(account, now))
}

function Waiting() {
  return (
    <div className={cards.skeleton} aria-busy="true">
      <span className="visually-hidden">{added.common.loading}</span>
    </div>
  )
}

interface NotLoadedProps {
  error: unknown
  pending: boolean
  onRetry: () => void
}

function NotLoaded(props: NotLoadedProps) {
  return (
    <main className={styles.page}>
      <PageTitle className="visually-hidden" name={spec.home}>
        {spec.home}
      </PageTitle>
      <Failed body={added.dashboard.loadFailed} {...props} />
    </main>
  )
}
