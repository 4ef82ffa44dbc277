import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { asApiError } from '@/shared/api/error'
import { useSubmit } from '@/shared/lib/form/use-submit'
import { formatDate, rupiah, wholeMinutes } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import { Empty } from '@/shared/ui/empty'
import { Failed } from '@/shared/ui/failed'
import { Spinner } from '@/shared/ui/spinner'
import { changeService, getServices, type MachineKind, type Service, shopKeys } from '@/till/api/shop-calls'
import type { Me } from '@/till/api/types'
import { reasonOf } from '@/till/lib/page/explain'
import { notify } from '@/till/lib/page/notices'
import { clockThere } from '@/till/lib/page/zone-clock'
import styles from './kelola.module.css'
import { layanan } from './layanan-copy'
import { ruleText } from './price-rules'
import { ServiceDialog } from './service-dialog'
import { serviceDraft } from './service-form'

/** A price by hour begins and ends without any change of ours. */
const LOOK_AGAIN_MS = 60_000

const GROUPS: { kind: MachineKind | null; title: string }[] = [
  { kind: null, title: layanan.anyKind },
  ...(['cuci', 'kering', 'lain'] as const).map((kind) => ({ kind, title: layanan.kinds[kind] })),
]

interface Props {
  me: Me
  idoutlet: number
  zone: string
}

/** What an outlet sells: by kind of machine, what is no longer sold folded away below. */
export function ServicesView({ me, idoutlet, zone }: Props) {
  const services = useQuery({
    queryKey: shopKeys.services(idoutlet),
    queryFn: ({ signal }) => getServices(idoutlet, signal),
    refetchInterval: LOOK_AGAIN_MS,
  })
  // A form that a lock or a reload interrupted is open again.
  const [open, setOpen] = useState<number | null | undefined>(() => serviceDraft.read(me.id, idoutlet)?.id)
  const may = (right: string) => me.hak.includes(right)
  const { data } = services
  if (!data) {
    if (!services.isError) return <Spinner large />
    return (
      <Failed error={services.error} pending={services.isFetching} onRetry={() => void services.refetch()} />
    )
  }
  const sold = data.filter(({ aktif }) => aktif)
  const retired = data.filter(({ aktif }) => !aktif)
  const service = open == null ? null : data.find(({ id }) => id === open)
  return (
    <>
      {may('layanan.buat') && (
        <Button
          variant="secondary"
          className={styles.add}
          icon={<Plus size={20} aria-hidden />}
          onClick={() => setOpen(null)}
        >
          {layanan.add}
        </Button>
      )}
      {sold.length === 0 && <Empty title={layanan.none} body={layanan.noneBody} />}
      {GROUPS.map(({ kind, title }) => {
        const here = sold.filter(({ jenis }) => jenis === kind)
        if (here.length === 0) return null
        return (
          <section key={title} aria-label={title}>
            <h2 className={styles.group}>{title}</h2>
            <ul className={styles.cards}>
              {here.map((one) => (
                <li key={one.id}>
                  <ServiceCard
                    service={one}
                    zone={zone}
                    onOpen={may('layanan.ubah') ? () => setOpen(one.id) : undefined}
                  />
                </li>
              ))}
            </ul>
          </section>
        )
      })}
      {retired.length > 0 && (
        <details className={styles.retired}>
          <summary>{layanan.retired(retired.length)}</summary>
          <ul>
            {retired.map((one) => (
              <li key={one.id} className={styles.retiredRow}>
                <span className={styles.ruleText}>
                  <span>{`${one.nama}, ${layanan.minutes(wholeMinutes(one.durasi))}, ${rupiah(one.harga)}`}</span>
                  {one.berhenti_at && (
                    <span className={styles.second}>{layanan.stopped(formatDate(one.berhenti_at))}</span>
                  )}
                </span>
                {may('layanan.ubah') && <SellAgain service={one} />}
              </li>
            ))}
          </ul>
        </details>
      )}
      {open !== undefined && service !== undefined && (
        <ServiceDialog
          key={open}
          who={me.id}
          idoutlet={idoutlet}
          zone={zone}
          service={service}
          onClose={() => setOpen(undefined)}
        />
      )}
    </>
  )
}

interface CardProps {
  service: Service
  zone: string
  onOpen: (() => void) | undefined
}

function ServiceCard({ service, zone, onOpen }: CardProps) {
  const { nama, durasi, ukuran, harga_sekarang, sampai_ms, aturan } = service
  const card = (
    <>
      <span className={styles.cardHead}>
        <span className={styles.cardName}>
          <strong>{nama}</strong>
          <span className={styles.second}>
            {[layanan.minutes(wholeMinutes(durasi)), ukuran].filter(Boolean).join(', ')}
          </span>
        </span>
        <span className={styles.cardPrice}>
          <strong className="digits">{rupiah(harga_sekarang)}</strong>
          {sampai_ms !== null && (
            <span className={styles.second}>{layanan.until(clockThere(sampai_ms, zone))}</span>
          )}
        </span>
      </span>
      {aturan.length === 0 ? (
        <span className={styles.second}>{layanan.onePrice}</span>
      ) : (
        <span className={styles.tags}>
          {aturan.map((rule) => (
            <span key={ruleText(rule)} className={styles.tag}>
              <span>{ruleText(rule)}</span> <strong>{rupiah(rule.harga)}</strong>
            </span>
          ))}
        </span>
      )}
    </>
  )
  if (!onOpen) return <div className={styles.card}>{card}</div>
  return (
    <button type="button" className={styles.card} onClick={onOpen}>
      {card}
    </button>
  )
}

function SellAgain({ service: { id, idoutlet, nama } }: { service: Service }) {
  const client = useQueryClient()
  const { pending, submit } = useSubmit(
    async () => {
      await changeService(id, { aktif: true })
      notify.info(layanan.soldAgain(nama))
      await client.invalidateQueries({ queryKey: shopKeys.services(idoutlet) })
    },
    (error) => {
      notify.failure(asApiError(error).status === 409 ? layanan.replaced : reasonOf(error))
    },
  )
  return (
    <Button
      variant="quiet"
      className={styles.small}
      pending={pending}
      aria-label={layanan.sellAgainOf(nama)}
      onClick={() => submit()}
    >
      {layanan.sellAgain}
    </Button>
  )
}
