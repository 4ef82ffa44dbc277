import { useQueryClient } from '@tanstack/react-query'
import { dashboardQuery } from '@/shared/api/dashboard'
import type { LeftInMachine } from '@/shared/api/model'
import { useSend } from '@/shared/api/use-send'
import { later } from '@/shared/copy/later'
import { Button } from '@/shared/ui/button'
import { markFetched } from './calls'
import styles from './running-card.module.css'

/** Button: the laundry of this purchase is no longer in its machine. */
export function FetchedButton({ id: fetched }: { id: LeftInMachine['id'] }) {
  const client = useQueryClient()
  const { pending, submit } = useSend({
    send: () => markFetched(fetched),
    async onDone() {
      // An older answer in flight would bring the card back.
      await client.cancelQueries({ queryKey: dashboardQuery().queryKey })
      client.setQueryData(
        dashboardQuery().queryKey,
        (data) => data && { ...data, menunggu: data.menunggu.filter(({ id }) => id !== fetched) },
      )
    },
  })
  return (
    <Button className={styles.fetched} pending={pending} onClick={() => submit()}>
      {later.fetched}
    </Button>
  )
}
