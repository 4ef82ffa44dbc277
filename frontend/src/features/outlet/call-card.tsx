import { useQuery, useQueryClient } from '@tanstack/react-query'
import { BellRing, ScanLine } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { Link } from 'react-router'
import { useSend } from '@/shared/api/use-send'
import { outletPath, paths } from '@/shared/lib/page/paths'
import { formatLeft } from '@/shared/lib/text/format'
import { toast } from '@/shared/lib/toast/toast'
import { usePushSwitch } from '@/shared/push/use-push'
import { useCountdown } from '@/shared/realtime/use-countdown'
import { Button } from '@/shared/ui/button'
import { getCall, type MyCall, outletKeys, stopCall } from './calls'
import styles from './outlet.module.css'
import { outletCopy as copy } from './outlet-copy'

/** A turn lasts minutes: a page that is looked at must not miss it. */
const ASK_MS = 5_000

export const useCall = () =>
  useQuery({
    queryKey: outletKeys.call,
    queryFn: ({ signal }) => getCall(signal),
    refetchInterval: ({ state }) => (state.data ? ASK_MS : false),
  })

/** The customer's own call: their place, or the machine that they are called to. `here`: the outlet that is shown; null for the list. */
export function CallCard({ here }: { here: number | null }) {
  const client = useQueryClient()
  const { data: call } = useCall()
  const stopping = useSend({
    send: stopCall,
    onDone() {
      client.setQueryData(outletKeys.call, null)
      toast.info(copy.stopped)
    },
  })
  useOver(call)
  if (!call) return null
  const { dipanggil, jenis, urutan, sampai, idoutlet } = call
  return (
    <section className={styles.call} data-called={dipanggil !== null || undefined} aria-label={copy.callMe}>
      <div role="status">
        {dipanggil ? (
          <p className={styles.callTitle}>{copy.called(dipanggil.mesin)}</p>
        ) : (
          <>
            <p className={styles.callTitle}>{copy.waiting(jenis)}</p>
            <p>{copy.place(urutan)}</p>
          </>
        )}
      </div>
      {dipanggil ? (
        <>
          <Left until={dipanggil.sampai} />
          <p className={styles.second}>{copy.calledBody}</p>
          <Link to={paths.scan} className={styles.scan}>
            <ScanLine size={22} aria-hidden />
            <span>{copy.scan}</span>
          </Link>
        </>
      ) : (
        <>
          <p className={styles.second}>{copy.waitsUntil(sampai)}</p>
          <AskForPush />
        </>
      )}
      {here !== idoutlet && (
        <Link to={outletPath(idoutlet)} className={styles.see}>
          <span>{here === null ? copy.seeIt : `${copy.elsewhere} ${copy.seeIt}`}</span>
        </Link>
      )}
      <Button variant="quiet" pending={stopping.pending} onClick={() => stopping.submit()}>
        {copy.stop}
      </Button>
    </section>
  )
}

function Left({ until }: { until: string }) {
  const left_s = useCountdown(Date.parse(until))
  return (
    <p className={`digits ${styles.left}`} translate="no">
      {formatLeft((left_s ?? 0) * 1000)}
    </p>
  )
}

/** Without a page in sight only a push reaches the customer. */
function AskForPush() {
  const { state, pending, toggle } = usePushSwitch()
  if (state === 'on' || state === 'unknown' || state === 'unsupported') return null
  return (
    <Button variant="secondary" icon={<BellRing size={20} aria-hidden />} pending={pending} onClick={toggle}>
      {copy.notify}
    </Button>
  )
}

/** Says that a call has ended that the customer did not end here. */
function useOver(call: MyCall | null | undefined): void {
  const before = useRef<MyCall | null>(null)
  useEffect(() => {
    const ended = before.current !== null && call === null
    const missed = before.current?.dipanggil && Date.parse(before.current.dipanggil.sampai) <= Date.now()
    if (ended && missed) toast.info(copy.over)
    if (call !== undefined) before.current = call
  }, [call])
}
