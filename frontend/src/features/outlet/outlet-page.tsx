import { useQueryClient } from '@tanstack/react-query'
import { asApiError } from '@/shared/api/error'
import { useSend } from '@/shared/api/use-send'
import { paths } from '@/shared/lib/page/paths'
import { formatLeft } from '@/shared/lib/text/format'
import { serverNow } from '@/shared/realtime/clock'
import { useCountdown } from '@/shared/realtime/use-countdown'
import { Button } from '@/shared/ui/button'
import { Empty } from '@/shared/ui/empty'
import { Failed } from '@/shared/ui/failed'
import { Page } from '@/shared/ui/page'
import { Spinner } from '@/shared/ui/spinner'
import { CallCard, useCall } from './call-card'
import { callMe, type FreeMachine, type Kind, type MyCall, type OutletMachines, outletKeys } from './calls'
import { AsOf, useFresh } from './fresh'
import { KindLine } from './kind-line'
import styles from './outlet.module.css'
import { outletCopy as copy } from './outlet-copy'
import { useMachines } from './use-machines'

const KINDS: Kind[] = ['cuci', 'kering', 'lain']

/** The machines of an outlet, live, as honestly as they are known. */
export function OutletPage({ id }: { id: number }) {
  const query = useMachines(id)
  const { data, error } = query
  const missing = !data && asApiError(error).status === 404
  return (
    <Page title={data?.outlet.nama ?? copy.title} back={paths.outlets}>
      {data ? (
        <Machines data={data} at_ms={query.dataUpdatedAt} />
      ) : error && missing ? (
        <Empty title={copy.unknown} body={copy.unknownBody} />
      ) : error ? (
        <Failed error={error} pending={query.isFetching} onRetry={() => void query.refetch()} />
      ) : (
        <Spinner large />
      )}
    </Page>
  )
}

function Machines({ data: { outlet, mesin }, at_ms }: { data: OutletMachines; at_ms: number }) {
  const fresh = useFresh(at_ms)
  const call = useCall().data ?? null
  const { idoutlet, kota, alamat, tutup } = outlet
  const groups = KINDS.map((kind) => ({ kind, machines: mesin.filter(({ jenis }) => jenis === kind) }))
  return (
    <>
      <p className={styles.second}>{[alamat, kota].filter(Boolean).join(', ')}</p>
      <CallCard here={idoutlet} />
      {tutup && (
        <div className={styles.closed}>
          <p className={styles.callTitle}>{copy.closed}</p>
          <p>{copy.closedWhy(tutup)}</p>
        </div>
      )}
      {groups.map(
        ({ kind, machines }) =>
          machines.length > 0 && (
            <Group
              key={kind}
              kind={kind}
              machines={machines}
              call={call}
              idoutlet={idoutlet}
              open={tutup === null}
              fresh={fresh}
            />
          ),
      )}
      <AsOf at_ms={at_ms} fresh={fresh} />
      <p className={styles.second}>{copy.notReserved}</p>
    </>
  )
}

interface GroupProps {
  kind: Kind
  machines: FreeMachine[]
  call: MyCall | null
  idoutlet: number
  open: boolean
  fresh: boolean
}

function Group({ kind, machines, call, idoutlet, open, fresh }: GroupProps) {
  const count = (status: string) => machines.filter((one) => one.status === status).length
  const ends = machines.flatMap(({ ends_at }) => (ends_at !== null && ends_at > serverNow() ? [ends_at] : []))
  // One that somebody is called to is not for everybody.
  const free = machines.filter((one) => one.status === 'idle' && !isCalled(one)).length
  const [silent, away] = [count('diam'), count('offline')]
  return (
    <section className={styles.group} aria-label={copy.kind(kind)}>
      <h2 className={styles.groupTitle}>{copy.kind(kind)}</h2>
      {fresh ? (
        <div className={styles.summary}>
          <KindLine
            kind={kind}
            ready={free}
            running={count('busy')}
            next_ms={ends.length > 0 ? Math.min(...ends) : null}
          />
          {silent > 0 && <span className={styles.second}>{copy.silent(silent)}</span>}
          {away > 0 && <span className={styles.second}>{copy.notUsable(away)}</span>}
        </div>
      ) : (
        <p className={styles.unsure}>{copy.unsure}</p>
      )}
      <ul className={styles.machines} data-stale={!fresh || undefined}>
        {machines.map((one) => (
          <Machine key={one.id} machine={one} mine={call?.dipanggil?.idmesin === one.id} fresh={fresh} />
        ))}
      </ul>
      {open && fresh && call === null && free === 0 && <CallMe idoutlet={idoutlet} kind={kind} />}
    </section>
  )
}

const isCalled = ({ dipanggil_sampai }: FreeMachine) =>
  dipanggil_sampai !== null && Date.parse(dipanggil_sampai) > serverNow()

function CallMe({ idoutlet, kind }: { idoutlet: number; kind: Kind }) {
  const client = useQueryClient()
  const { pending, submit } = useSend({
    send: () => callMe(idoutlet, kind),
    onDone: (made) => client.setQueryData(outletKeys.call, made),
    // A refusal often means that something has changed: a machine is free, or another call is there.
    onFailed() {
      for (const queryKey of [outletKeys.call, outletKeys.machines(idoutlet)])
        void client.invalidateQueries({ queryKey })
    },
  })
  return (
    <Button variant="secondary" pending={pending} aria-label={copy.callMeOf(kind)} onClick={() => submit()}>
      {copy.callMe}
    </Button>
  )
}

function Machine({ machine, mine, fresh }: { machine: FreeMachine; mine: boolean; fresh: boolean }) {
  const { nama, status, ends_at, dipanggil_sampai } = machine
  const left_s = useCountdown(status === 'busy' ? ends_at : null)
  const called_s = useCountdown(dipanggil_sampai === null ? null : Date.parse(dipanggil_sampai))
  const known = status in copy.states ? status : 'offline'
  const called = status === 'idle' && called_s !== null && called_s > 0
  return (
    <li className={styles.machine} data-status={called && !mine ? 'called' : known}>
      <span className={styles.name}>{nama}</span>
      {!fresh ? (
        <span className={styles.second}>{copy.unsure}</span>
      ) : called && !mine ? (
        <span className={styles.second}>{copy.calledOther(Math.ceil(called_s / 60))}</span>
      ) : left_s !== null && left_s > 0 ? (
        <span className={`digits ${styles.state}`} translate="no">
          {formatLeft(left_s * 1000)}
        </span>
      ) : (
        <span className={styles.state}>
          <span>{copy.states[known]}</span>
          {mine && <span>{`, ${copy.calledMe}`}</span>}
        </span>
      )}
    </li>
  )
}
