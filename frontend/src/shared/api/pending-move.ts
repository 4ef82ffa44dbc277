import { queryOptions } from '@tanstack/react-query'
import { api, call } from '@/shared/api/client'
import type { PendingMove } from '@/shared/api/model'

/** A move to another number that a till has asked for and that waits for a no of this number; null when there is none. */
export const pendingMoveQuery = () =>
  queryOptions({
    queryKey: ['move'],
    queryFn: ({ signal }): Promise<PendingMove | null> =>
      call((init) => api.GET('/scan/v1/akun/pindah', init), { signal }),
  })
