import { useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { asApiError } from '@/shared/api/error'
import { Failed } from '@/shared/ui/failed'
import { Spinner } from '@/shared/ui/spinner'
import { findCustomer } from '@/till/api/calls'
import type { CustomerRef } from '@/till/api/types'
import { topUps, useTopUpState } from '@/till/lib/money/top-ups'
import { CUSTOMER_CODE, useScans } from '@/till/lib/scan/scans'
import { useDevice } from '@/till/lib/session/use-device'
import { useShift } from '@/till/lib/shift/use-shift'
import { OpenShift } from '@/till/ui/open-shift'
import { OpenTopUps } from '@/till/ui/open-top-ups'
import { Asking } from './asking'
import { draft, useDraft } from './draft'
import { Find } from './find'
import { Made } from './made'
import { Sale } from './sale'
import { Undone } from './undone'
import { useParts } from './use-parts'

/** The till: scan, amount, confirm. */
export default function TillPage() {
  const device = useDevice()
  const shift = useShift()
  const { customer, bill } = useDraft()
  const { BillPage, Unregistered, WaitingMoney } = useParts()
  const topUp = useTopUpState()
  const find = useMutation({ mutationFn: (ref: CustomerRef) => findCustomer(ref) })
  const [telp, setTelp] = useState('')

  const outlet = device.data?.outlet
  const shiftOpen = shift.data?.shift
  const undecided = topUp.is === 'asking' || topUp.is === 'waiting' || topUp.is === 'unknown'

  function search(ref: CustomerRef) {
    draft.clear()
    topUps.done()
    find.mutate(ref, {
      onSuccess: (found) => {
        draft.begin(found, ref)
        setTelp('')
        find.reset()
      },
      onError: (error) => {
        // Further digits start another number.
        if (isUnknown(error)) setTelp('')
      },
    })
  }
  useFromTop(topUp.is === 'made' ? 'made' : bill ? 'bill' : customer ? 'sale' : 'find')
  // The next customer waits while the previous top-up is undecided, or while nothing can be sold.
  useScanned(!undecided && shiftOpen != null, (qr) => search({ qr }))

  function next() {
    draft.clear()
    topUps.done()
    find.reset()
  }

  if (undecided && !(topUp.is === 'asking' && topUp.asked === 1 && customer)) return <Asking state={topUp} />
  if (topUp.is === 'made') {
    const { open, made } = topUp
    return (
      <Made
        topUp={{
          outlet: outlet ?? null,
          cashier: open.who.nama,
          customer: made.nama,
          paid: open.body.nominal,
          gained: open.gained,
          method: open.body.cara_bayar,
          number: made.idpembelian_emoney,
          at: made.created_at,
          balance: made.saldo_akhir,
          copy: false,
        }}
        typed={open.typed}
        undo_ms={Date.parse(made.batal_sampai) - Date.parse(made.created_at)}
        onNext={next}
      />
    )
  }
  if (bill) return BillPage ? <BillPage bill={bill} onNext={next} /> : <Spinner large />
  const failed = [device, shift].find(({ data, isError }) => data === undefined && isError)
  if (failed) {
    return <Failed error={failed.error} pending={failed.isFetching} onRetry={() => void failed.refetch()} />
  }
  if (!outlet || shiftOpen === undefined) return <Spinner large />
  if (shiftOpen === null) {
    return (
      <>
        <Undone />
        <OpenShift />
      </>
    )
  }
  if (customer) {
    return (
      <>
        <OpenTopUps customer={customer.id_customer_global} />
        <Sale customer={customer} idoutlet={outlet.idoutlet} onNext={next} />
      </>
    )
  }
  const searched = find.variables && 'telp' in find.variables ? find.variables.telp : null
  const unknown = Unregistered && isUnknown(find.error) ? searched : null
  if (Unregistered && unknown !== null && telp === '') {
    return <Unregistered telp={unknown} onNext={next} onTelp={setTelp} />
  }
  return (
    <>
      <Undone />
      <OpenTopUps />
      {WaitingMoney && <WaitingMoney />}
      <Find
        telp={telp}
        onTelp={(typed) => {
          setTelp(typed)
          // Deleting the last digit must not bring back the previous number.
          if (unknown !== null && typed === '') find.reset()
        }}
        pending={find.isPending}
        error={unknown === null ? find.error : null}
        onFind={search}
      />
    </>
  )
}

/** No customer has that number. */
const isUnknown = (error: unknown) => error !== null && asApiError(error).status === 404

/** Each step starts at its top, wherever the previous one was scrolled to. */
function useFromTop(step: string): void {
  // Newer browsers return a promise, which React would treat as the effect's cleanup.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each step is a beginning
  useEffect(() => void document.querySelector('main')?.scrollTo(0, 0), [step])
}

/** Takes a scanned customer's code, from this screen or another, as soon as the till is ready for it. */
function useScanned(ready: boolean, onCode: (qr: string) => void): void {
  const waiting = useScans((state) => state.waiting)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each scan is looked up once, whatever else is rendered again
  useEffect(() => {
    if (!ready || !waiting?.startsWith(CUSTOMER_CODE)) return
    useScans.getState().take()
    onCode(waiting)
  }, [ready, waiting])
}
