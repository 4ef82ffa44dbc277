import { useQuery } from '@tanstack/react-query'
import { ChevronRight } from 'lucide-react'
import { type CSSProperties, useState } from 'react'
import { Navigate, useLocation, useNavigate } from 'react-router'
import { asked, type Failure } from '@/shared/api/asked'
import { asApiError } from '@/shared/api/error'
import { lastUseQuery } from '@/shared/api/last-use'
import type { DataLayanan } from '@/shared/api/model'
import { copy } from '@/shared/copy/copy'
import { later } from '@/shared/copy/later'
import { paths } from '@/shared/lib/page/paths'
import { clockTime, rupiah, wholeMinutes } from '@/shared/lib/text/format'
import { lastOf } from '@/shared/lib/text/last-of'
import { serverNow } from '@/shared/realtime/clock'
import { Button } from '@/shared/ui/button'
import choices from '@/shared/ui/choice.module.css'
import { Empty } from '@/shared/ui/empty'
import { Failed } from '@/shared/ui/failed'
import { Field } from '@/shared/ui/field'
import { MoreSentinel } from '@/shared/ui/more-sentinel'
import { Page } from '@/shared/ui/page'
import { type PurchaseFlow, purchaseFlow } from '../purchase-flow'
import { readAgain } from '../scan/again'
import { Waiting } from '../waiting'
import { MachineCard } from './machine-card'
import { pilihLayanan } from './pilih-layanan-copy'
import styles from './pilih-layanan-page.module.css'
import { useDebounced } from './use-debounced'
import { useMachine } from './use-machine'
import { useServices } from './use-services'

/** A price that changes within this time says so. */
const SOON_MS = 60 * 60_000

/** The services of the scanned machine; without a scan it redirects to the scanner. */
export default function PilihLayananPage() {
  const [flow] = useState(purchaseFlow.read)
  return flow ? <ServiceList flow={flow} /> : <Navigate to={paths.scan} replace />
}

function ServiceList({ flow }: { flow: PurchaseFlow }) {
  const navigate = useNavigate()
  const { state } = useLocation()
  const [typed, setTyped] = useState('')
  const search = useDebounced(typed.trim())
  const query = useServices(flow.qr, search)
  const services = asked(
    query,
    query.data?.pages.flatMap((page) => page.data_layanan),
  )
  const machine = lastOf(query.data?.pages ?? [])?.data_mesin ?? flow.mesin
  const now = useMachine(machine, query.data ? query.dataUpdatedAt : 0)
  const free = now.kind === 'free'
  // A short list needs no search.
  const searchable = search !== '' || typed !== '' || (query.data?.pages.length ?? 0) > 1 || query.hasNextPage

  function choose(service: DataLayanan) {
    purchaseFlow.write({ qr: flow.qr, mesin: machine, layanan: service })
    navigate(paths.pilihEpay)
  }

  /** Scans another machine and keeps the service to be bought again. */
  const scanAnother = () => navigate(paths.scan, { state: { again: readAgain(state) } })

  return (
    <Page
      title={copy.service.title}
      back={paths.dashboard}
      footer={
        // A failed list shows a separate way on.
        !free &&
        // No other machine of a closed outlet can be bought either.
        now.kind !== 'closed' &&
        services.kind !== 'failed' && (
          <Button variant="secondary" onClick={scanAnother}>
            {copy.service.scanAnother}
          </Button>
        )
      }
    >
      <MachineCard machine={machine} now={now} />
      {searchable && (
        <Field
          label={copy.service.search}
          type="search"
          autoComplete="off"
          maxLength={50}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      )}
      {services.kind === 'loading' && <Waiting />}
      {services.kind === 'failed' && <NotLoaded failure={services.failure} onScan={scanAnother} />}
      {services.kind === 'shown' && (
        <Services services={services.data} searching={search !== ''} free={free} onChoose={choose} />
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
  onChoose: (service: DataLayanan) => void
}

function Services({ services, searching, free, onChoose }: ServicesProps) {
  const { data: last } = useQuery(lastUseQuery())
  if (services.length === 0) return <Empty title={searching ? copy.service.noMatch : copy.service.empty} />
  return (
    <ul className={choices.surface}>
      {services.map((service) => (
        <li key={service.id}>
          <button type="button" className={choices.choice} disabled={!free} onClick={() => onChoose(service)}>
            <span
              className={styles.dial}
              style={{ '--level': `${dialLevel(service.durasi)}%` } as CSSProperties}
            />
            <span className={styles.name}>
              <span>{service.nama}</span>
              <span className={styles.duration}>
                <span>{copy.receipt.minutes(wholeMinutes(service.durasi))}</span>
                {service.id === last?.idlayanan && <span className={styles.last}>{later.again.last}</span>}
              </span>
            </span>
            <Price service={service} />
            <ChevronRight size={20} aria-hidden className={choices.chevron} />
          </button>
        </li>
      ))}
    </ul>
  )
}

/** The price; one that changes soon with the time until which it holds. */
function Price({ service: { harga, harga_sampai } }: { service: DataLayanan }) {
  const left_ms = harga_sampai === null ? 0 : harga_sampai - serverNow()
  return (
    <span className={`digits ${styles.price}`}>
      <span>{rupiah(harga)}</span>
      {harga_sampai !== null && left_ms > 0 && left_ms <= SOON_MS && (
        <span className={styles.duration}>{pilihLayanan.until(clockTime(harga_sampai))}</span>
      )}
    </span>
  )
}

/** Per cent of an hour; a short service shows some water, too. */
const dialLevel = (duration_s: number) => Math.round(Math.min(1, Math.max(0.15, duration_s / 3_600)) * 100)

function NotLoaded({ failure, onScan }: { failure: Failure; onScan: () => void }) {
  if (asApiError(failure.error).status !== 404) return <Failed {...failure} />
  return (
    <Empty
      title={copy.scan.machineNotFound}
      body={copy.scan.machineNotFoundBody}
      action={<Button onClick={onScan}>{copy.scan.scanAgain}</Button>}
    />
  )
}
