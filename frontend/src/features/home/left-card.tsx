import { useQueryClient } from '@tanstack/react-query'
import { dashboardQuery } from '@/shared/api/dashboard'
import type { LeftInMachine } from '@/shared/api/model'
import { useSend } from '@/shared/api/use-send'
import { added } from '@/shared/copy/added'
import { extras } from '@/shared/copy/extras'
import { clockTime } from '@/shared/lib/format'
import { Button } from '@/shared/ui/button'
import { Porthole } from '@/shared/ui/porthole'
import { markFetched } from './calls'
import { MachineFront } from './machine-front'
import styles from './running-card.module.css'

/** A run that is over, with the laundry still in its machine. */
export function LeftCard({ use, alone }: { use: LeftInMachine; alone: boolean }) {
  const client = useQueryClient()
  const { pending, submit } = useSend({
    send: () => markFetched(use.id),
    async onDone() {
      // One that was asked before would bring it back.
      await client.cancelQueries({ queryKey: dashboardQuery().queryKey })
      client.setQueryData(
        dashboardQuery().queryKey,
        (data) => data && { ...data, menunggu: data.menunggu.filter(({ id }) => id !== use.id) },
      )
    },
  })
  return (
    <MachineFront
      machine={use.mesin}
      service={use.layanan}
      outlet={use.outlet}
      alone={alone}
      lamp="done"
      porthole={<Porthole size={alone ? 'hero' : 'pair'} state="finished" />}
      when={added.dashboard.since(clockTime(use.finished_at))}
    >
      <Button className={styles.fetched} pending={pending} onClick={() => submit()}>
        {extras.fetched}
      </Button>
    </MachineFront>
  )
}
