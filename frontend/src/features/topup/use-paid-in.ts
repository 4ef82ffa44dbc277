import { useQuery } from '@tanstack/react-query'
import { useEffect, useReducer, useRef, useState } from 'react'
import { epayQuery } from '@/shared/api/dashboard'
import { vibrate } from '@/shared/lib/page/vibrate'
import { rupiah } from '@/shared/lib/text/format'
import { toast } from '@/shared/lib/toast/toast'
import { watchBalances } from '@/shared/realtime/socket'
import { START, step } from './paid-in'
import { paidIn as texts } from './paid-in-copy'

/** Interval of requests for the wallets, for the case that the socket's notification is lost. */
const LOOK_MS = 15_000
/** The requests stop after this time; when the page becomes visible again, the time restarts. */
const LOOK_FOR_MS = 10 * 60_000

/** Top-ups that arrive while this screen is open, and the way back to the code. */
export function usePaidIn() {
  const [openedAt] = useState(() => Date.now())
  const [{ known, paidIn }, dispatch] = useReducer(step, START)
  const { data, dataUpdatedAt, lookLonger } = useAccounts(paidIn === null)

  useEffect(
    () =>
      watchBalances((change) => {
        dispatch({ change })
        if (change.sebab === 'batal') toast.info(texts.reversed, `${texts.balance} ${rupiah(change.saldo)}`)
      }),
    [],
  )
  useEffect(() => {
    // Data that another screen fetched may lack an old top-up, which would look like a new one.
    if (data && dataUpdatedAt >= openedAt) dispatch({ accounts: data })
  }, [data, dataUpdatedAt, openedAt])
  useEffect(() => {
    if (paidIn) vibrate()
  }, [paidIn])

  return {
    paidIn: paidIn && { ...paidIn, balance: known?.get(paidIn.idcustomer) ?? paidIn.balance },
    accounts: data ?? [],
    again: () => {
      lookLonger()
      dispatch('again')
    },
  }
}

/** The wallets, refetched at intervals while `looking`, and whenever the page becomes visible again. */
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
