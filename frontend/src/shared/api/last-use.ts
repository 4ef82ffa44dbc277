import { queryOptions } from '@tanstack/react-query'
import { api, call } from '@/shared/api/client'
import type { LastUse } from '@/shared/api/model'

/** The customer's last purchase; null when its service is no longer available, or when there is no purchase. */
export const lastUseQuery = () =>
  queryOptions({
    queryKey: ['last-use'],
    queryFn: ({ signal }): Promise<LastUse | null> =>
      call((init) => api.GET('/scan/v1/transaksi/terakhir', init), { signal }),
  })
