import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { learn } from '@/shared/realtime/clock'
import { watchBoard } from '@/shared/realtime/socket'
import { getMachines, type OutletMachines, outletKeys } from './calls'
import { step } from './outlet-board'

/** The topic says something at least every 15 s; after this silence the call is asked. */
const SILENCE_MS = 18_000
const LOOK_MS = 5_000

/** An outlet's machines: fetched once, then kept current by its topic, or by asking again where the socket is silent. */
export function useMachines(id: number) {
  const client = useQueryClient()
  const query = useQuery({
    queryKey: outletKeys.machines(id),
    async queryFn({ signal }) {
      const sent_ms = Date.now()
      const data = await getMachines(id, signal)
      learn(sent_ms, data.server_time, Date.now())
      return data
    },
    staleTime: SILENCE_MS,
  })
  const { refetch } = query
  useEffect(() => {
    const queryKey = outletKeys.machines(id)
    let versi: number | null = null
    const { again, stop } = watchBoard(`outlet/${id}`, (message) => {
      const before = client.getQueryData<OutletMachines>(queryKey)
      const next = step(before, versi, message)
      if (next?.is === 'gap') return again()
      if (!next) return
      versi = next.versi
      client.setQueryData(queryKey, next.data)
      // A change of machines may be the customer's turn.
      if (next.data.mesin !== before?.mesin) void client.invalidateQueries({ queryKey: outletKeys.call })
    })
    const look = setInterval(() => {
      const at_ms = client.getQueryState(queryKey)?.dataUpdatedAt ?? 0
      if (document.visibilityState === 'visible' && Date.now() - at_ms > SILENCE_MS) void refetch()
    }, LOOK_MS)
    return () => {
      stop()
      clearInterval(look)
    }
  }, [client, id, refetch])
  return query
}
