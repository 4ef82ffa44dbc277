import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Navigate, useNavigate } from 'react-router'
import { getEpay } from '@/shared/api/dashboard'
import { keys } from '@/shared/api/keys'
import type { AkunEpay } from '@/shared/api/model'
import { getEpayOfOwner } from '@/shared/api/purchase'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { isUsable } from '@/shared/lib/epay'
import { paths } from '@/shared/lib/paths'
import { dropReceipt, type PurchaseFlow, purchaseFlow } from '@/shared/lib/purchase-flow'
import { toast } from '@/shared/lib/toast'
import { serverNow } from '@/shared/realtime/clock'
import { Button } from '@/shared/ui/button'
import choices from '@/shared/ui/choice.module.css'
import { Empty } from '@/shared/ui/empty'
import { Failed } from '@/shared/ui/failed'
import { Page } from '@/shared/ui/page'
import { Waiting } from '@/shared/ui/waiting'
import { EpayOption } from './epay-option'
import styles from './pilih-epay-page.module.css'

type Chosen = PurchaseFlow & Required<Pick<PurchaseFlow, 'layanan'>>

/** The E-Pay accounts to pay the chosen service with. */
export default function PilihEpayPage() {
  const [flow] = useState(purchaseFlow.read)
  return (
    <Page title={added.epay.title} back={paths.dashboard}>
      {flow?.layanan ? <OwnerAccounts flow={{ ...flow, layanan: flow.layanan }} /> : <DirectEntry />}
    </Page>
  )
}

function OwnerAccounts({ flow }: { flow: Chosen }) {
  const navigate = useNavigate()
  const query = useQuery({
    queryKey: keys.ownerEpay(flow.mesin.idowner),
    queryFn: ({ signal }) => getEpayOfOwner(flow.mesin.idowner, signal),
  })
  if (!query.data) return <NotYet query={query} />

  function choose(epay: AkunEpay) {
    if ((epay.quota_emoney?.saldo ?? 0) < flow.layanan.harga) {
      toast.failure(spec.balanceTooLow, added.epay.insufficientBody)
      return
    }
    // A new choice is a new visit of the payment, with a receipt of its own.
    dropReceipt()
    purchaseFlow.write({ ...flow, epay })
    navigate(paths.pembayaran)
  }

  if (query.data.length === 0) return <NoAccount />
  return (
    <>
      <p className={styles.count}>{spec.epayFound(query.data.length)}</p>
      <ul className={choices.list}>
        {query.data.map((epay) => (
          <li key={epay.idcustomer}>
            <EpayOption epay={epay} price={flow.layanan.harga} onChoose={() => choose(epay)} />
          </li>
        ))}
      </ul>
    </>
  )
}

/** Entered without a chosen service: somebody without any balance is told so, others go back a step. */
function DirectEntry() {
  const query = useQuery({ queryKey: keys.epay, queryFn: ({ signal }) => getEpay(signal) })
  if (!query.data) return <NotYet query={query} />
  const now = serverNow()
  const usable = query.data.some((account) => isUsable(account, now))
  return usable ? <Navigate to={paths.pilihLayanan} replace /> : <NoAccount />
}

function NoAccount() {
  const navigate = useNavigate()
  return (
    <Empty
      title={spec.epayNotFound}
      body={added.epay.emptyBody}
      action={<Button onClick={() => navigate(paths.topUp)}>{spec.topUpEpayment}</Button>}
    />
  )
}

interface Query {
  error: unknown
  isError: boolean
  isFetching: boolean
  refetch: () => unknown
}

function NotYet({ query }: { query: Query }) {
  if (!query.isError) return <Waiting />
  return <Failed error={query.error} pending={query.isFetching} onRetry={() => void query.refetch()} />
}
