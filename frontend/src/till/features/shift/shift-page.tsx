import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '@/shared/ui/button'
import { Empty } from '@/shared/ui/empty'
import { Failed } from '@/shared/ui/failed'
import { Spinner } from '@/shared/ui/spinner'
import { keys } from '@/till/api/keys'
import type { Shift, ShiftClosed } from '@/till/api/types'
import { useMoney } from '@/till/lib/money/use-money'
import { useSession } from '@/till/lib/session/session'
import { useDevice } from '@/till/lib/session/use-device'
import { sendShiftChange } from '@/till/lib/shift/shift-change'
import { useShift } from '@/till/lib/shift/use-shift'
import { OpenShift } from '@/till/ui/open-shift'
import { Unanswered } from '@/till/ui/unanswered'
import { CountView } from './count-view'
import { countDraft } from './draft'
import { useLastClose } from './last-close'
import { NowView } from './now-view'
import { ResultView } from './result-view'

/** The drawer of this till: open, add cash, remove cash, count. */
export default function ShiftPage() {
  const who = useSession(({ session }) => session?.petugas.id)
  const device = useDevice()
  const shift = useShift()
  const close = useLastClose((state) => state.close)
  const [counting, setCounting] = useState<number | null>(null)
  const [doubtful, setDoubtful] = useState(false)
  const closing = useClosing(() => setDoubtful(true))

  const open = shift.data?.shift
  const [seen, setSeen] = useState<Shift | null>(null)
  if (open && open.id !== seen?.id) setSeen(open)

  if (close && close.who === who) {
    return (
      <ResultView
        result={close.result}
        onDone={() => {
          setSeen(null)
          useLastClose.getState().done()
        }}
      />
    )
  }
  if (closing.unanswered) return <Unanswered money={closing} />
  const failed = [device, shift].find(({ data, isError }) => data === undefined && isError)
  if (failed) {
    return <Failed error={failed.error} pending={failed.isFetching} onRetry={() => void failed.refetch()} />
  }
  if (!device.data || !shift.data || who === undefined) return <Spinner large />
  if (!open) {
    if (!seen) return <OpenShift />
    return (
      <Empty
        title="Shift ditutup"
        body="Shift ini sudah ditutup di tab atau perangkat lain."
        action={<Button onClick={() => setSeen(null)}>Buka shift baru</Button>}
      />
    )
  }
  if (counting === open.id) {
    return (
      <CountView
        shift={open}
        who={who}
        closing={closing}
        doubtful={doubtful}
        onAsked={() => setDoubtful(false)}
        onBack={() => setCounting(null)}
      />
    )
  }
  return <NowView shift={open} now={shift.data} onCount={() => setCounting(open.id)} />
}

/** The server's sentence for a count that looks wrong. It reveals nothing more, because the count is blind. */
const AGAIN = 'hitung sekali lagi'

/** Closes the shift; after a handover the next member of staff is logged in at once. */
function useClosing(onDoubt: () => void) {
  const client = useQueryClient()
  const who = useSession(({ session }) => session?.petugas.id)
  const look = () => {
    for (const queryKey of [keys.shift, keys.device]) void client.invalidateQueries({ queryKey })
  }
  return useMoney<ShiftClosed>('shift', {
    onDone: (answer) => {
      sendShiftChange(answer.id)
      countDraft.clear()
      const { show } = useLastClose.getState()
      const { baru, token, sampai, petugas } = answer
      if (baru && petugas) {
        show(answer, petugas.id)
        const session = useSession.getState()
        // A repeated call gets no token: the next member of staff logs in with their PIN.
        if (token && sampai) session.begin({ token, sampai, petugas, shift: baru })
        else session.end()
      } else if (who !== undefined) show(answer, who)
      look()
    },
    onRefused: ({ status, message }) => {
      const again = status === 409 && message === AGAIN
      if (again) onDoubt()
      else look()
      return again
    },
  })
}
