import { useQuery } from '@tanstack/react-query'
import { useEffect, useReducer, useRef, useState } from 'react'
import { epayQuery } from '@/shared/api/dashboard'
import { rupiah } from '@/shared/lib/format'
import { toast } from '@/shared/lib/toast'
import { vibrate } from '@/shared/lib/vibrate'
import { watchBalances } from '@/shared/realtime/socket'
import { START, step } from './paid-in'
import { paidIn as words } from './paid-in-copy'

/** The socket tells at once; where it does not, the accounts are asked for this often. */
const LOOK_MS = 15_000
/** A phone that lies there with its code does not ask for ever; looked at again, it begins anew. */
const LOOK_FOR_MS = 10 * 60_000

/** Money that comes in while this screen is open, and the way back to the code. */
export function usePaidIn() {
  const [openedAt] = useState(() => Date.now())
  const [{ known, paidIn }, tell] = useReducer(step, START)
  const { data, dataUpdatedAt, lookLonger } = useAccounts(paidIn === null)

  useEffect(
    () =>
      watchBalances((news) => {
        tell({ news })
        if (news.sebab === 'batal') toast.info(words.voided, `${words.balance} ${rupiah(news.saldo)}`)
      }),
    [],
  )
  useEffect(() => {
    // What another screen fetched may lack a top-up of long ago, which would look as if it came in now.
    if (data && dataUpdatedAt >= openedAt) tell({ accounts: data })
  }, [data, dataUpdatedAt, openedAt])
  useEffect(() => {
    if (paidIn) vibrate()
  }, [paidIn])

  return {
    paidIn: paidIn && { ...paidIn, balance: known?.get(paidIn.idcustomer) ?? paidIn.balance },
    again: () => {
      lookLonger()
      tell('again')
    },
  }
}

/** The accounts, asked for again and again while that is wanted, and whenever the page comes back to sight. */
function useAccounts(looking: boolean) {
  const since = useRef(Date.now())
  const lookLonger = () => {
    since.current = Date.now()
  }
  useEffect(() => {
    const onSight = () => {
      if (document.visibilityState === 'visible') since.current = Date.now()
    }
    document.addEventListener('visibilitychange', onSight)
    return () => document.removeEventListener('visibilitychange', onSight)
  }, [])
  const query = useQuery({
    ...epayQuery(),
    refetchOnMount: 'always',
    refetchOnWindowFocus: 'always',
    refetchOnReconnect: 'always',
    refetchInterval: () => (looking && Date.now() - since.current < LOOK_FOR_MS ? LOOK_MS : false),
  })
  return { ...query, lookLonger }
}
