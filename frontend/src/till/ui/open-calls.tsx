import { useQueryClient } from '@tanstack/react-query'
import { keys } from '@/till/api/keys'
import type { OpenCall } from '@/till/lib/money/money-calls'
import { useMoney, useMyOpenCalls } from '@/till/lib/money/use-money'
import { reasonOf } from '@/till/lib/page/explain'
import { notify } from '@/till/lib/page/notices'
import { Unanswered } from '@/till/ui/unanswered'

/** Unanswered calls of the current member of staff from a screen whose dialog is closed. */
export function OpenCalls({ about }: { about: readonly string[] }) {
  const open = useMyOpenCalls().filter(({ subject }) => about.some((prefix) => subject.startsWith(prefix)))
  return open.map((call) => <OpenOne key={call.key} call={call} />)
}

function OpenOne({ call }: { call: OpenCall }) {
  const client = useQueryClient()
  const look = () => {
    for (const queryKey of [keys.topUps, keys.uses, keys.shift]) void client.invalidateQueries({ queryKey })
  }
  const money = useMoney(call.subject, {
    onDone: () => {
      notify.info(`Sudah terjadi: ${call.what}`)
      look()
    },
    onRefused: (error) => {
      notify.failure(`Tidak terjadi: ${call.what} ${reasonOf(error)}`)
      look()
    },
  })
  return <Unanswered money={money} />
}
