import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { Navigate, useNavigate } from 'react-router'
import { asApiError } from '@/shared/api/error'
import type { DataLayanan } from '@/shared/api/model'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { rupiah, wholeMinutes } from '@/shared/lib/format'
import { paths } from '@/shared/lib/paths'
import { type PurchaseFlow, purchaseFlow } from '@/shared/lib/purchase-flow'
import { useDebounced } from '@/shared/lib/use-debounced'
import { Button } from '@/shared/ui/button'
import choices from '@/shared/ui/choice.module.css'
import { Empty } from '@/shared/ui/empty'
import { Failed } from '@/shared/ui/failed'
import { Field } from '@/shared/ui/field'
import { MoreSentinel } from '@/shared/ui/more-sentinel'
import { Page } from '@/shared/ui/page'
import { Waiting } from '@/shared/ui/waiting'
import { MesinCard } from './mesin-card'
import styles from './pilih-layanan-page.module.css'
import { useLayanan } from './use-layanan'
import { useMachine } from './use-machine'

/** The services of the scanned machine; without a scan it leads back to it. */
export default function PilihLayananPage() {
  const [flow] = useState(purchaseFlow.read)
  return flow ? <LayananList flow={flow} /> : <Navigate to={paths.scan} replace />
}

function LayananList({ flow }: { flow: PurchaseFlow }) {
  const navigate = useNavigate()
  const [ketikan, setKetikan] = useState('')
  const search = useDebounced(ketikan.trim())
  const query = useLayanan(flow.qr, search)
  const services = query.data?.pages.flatMap((page) => page.data_layanan)
  const mesin = query.data?.pages.at(-1)?.data_mesin ?? flow.mesin
  const { free, ends_at } = useMachine(mesin, query.data ? query.dataUpdatedAt : 0)
  // A short list needs no search.
  const searchable =
    search !== '' || ketikan !== '' || (query.data?.pages.length ?? 0) > 1 || query.hasNextPage

  function choose(layanan: DataLayanan) {
    purchaseFlow.write({ qr: flow.qr, mesin, layanan })
    navigate(paths.pilihEpay)
  }

  return (
    <Page title={added.service.title} back={paths.dashboard}>
      <MesinCard mesin={mesin} free={free} ends_at={ends_at} />
      {searchable && (
        <Field
          label={added.service.search}
          type="search"
          autoComplete="off"
          maxLength={50}
          value={ketikan}
          onChange={(event) => setKetikan(event.target.value)}
        />
      )}
      {services ? (
        <Services services={services} searching={search !== ''} free={free} onChoose={choose} />
      ) : query.isError ? (
        <NotLoaded error={query.error} pending={query.isFetching} onRetry={() => void query.refetch()} />
      ) : (
        <Waiting />
      )}
      {query.hasNextPage && (
        <MoreSentinel
          loading={query.isFetching}
          failed={query.isFetchNextPageError}
          onMore={() => {
            if (!query.isFetching) void query.fetchNextPage()
          }}
        />
      )}
    </Page>
  )
}

interface ServicesProps {
  services: DataLayanan[]
  searching: boolean
  /** Whether the machine takes a purchase now. */
  free: boolean
  onChoose: (layanan: DataLayanan) => void
}

function Services({ services, searching, free, onChoose }: ServicesProps) {
  if (services.length === 0) return <Empty title={searching ? added.service.noMatch : added.service.empty} />
  return (
    <ul className={choices.list}>
      {services.map((layanan) => (
        <li key={layanan.id}>
          <button type="button" className={choices.choice} disabled={!free} onClick={() => onChoose(layanan)}>
            <span className={styles.name}>
              {layanan.nama}
              <span className={styles.duration}>{added.receipt.minutes(wholeMinutes(layanan.durasi))}</span>
            </span>
            <span className={`digits ${styles.price}`}>{rupiah(layanan.harga)}</span>
            <ChevronRight size={20} aria-hidden className={choices.chevron} />
          </button>
        </li>
      ))}
    </ul>
  )
}

function NotLoaded({ error, pending, onRetry }: { error: unknown; pending: boolean; onRetry: () => void }) {
  const navigate = useNavigate()
  if (asApiError(error).status !== 404) return <Failed error={error} pending={pending} onRetry={onRetry} />
  return (
    <Empty
      title={spec.machineNotFound}
      body={added.scan.machineNotFoundBody}
      action={<Button onClick={() => navigate(paths.scan)}>{added.scan.scanAgain}</Button>}
    />
  )
}
