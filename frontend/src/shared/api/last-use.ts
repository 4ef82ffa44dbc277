import { queryOptions } from '@tanstack/react-query'
import { api, call } from '@/shared/api/client'
import type { LastUse } from '@/shared/api/model'

/** What the customer last bought; null when it is not to be had any more, or there is none. */
export const lastUseQuery = () =>
  queryOptions({
    queryKey: ['last-use'],
    queryFn: ({ signal }): Promise<LastUse | null> =>
      call((init) => api.GET('/scan/v1/transaksi/terakhir', init), { signal }),
  })
