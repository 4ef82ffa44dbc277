import { useQuery } from '@tanstack/react-query'
import { WalletMinimal } from 'lucide-react'
import { useState } from 'react'
import { Navigate, useNavigate } from 'react-router'
import { type Asked, asked } from '@/shared/api/asked'
import { epayQuery } from '@/shared/api/dashboard'
import type { AkunEpay } from '@/shared/api/model'
import { copy } from '@/shared/copy/copy'
import { paths } from '@/shared/lib/page/paths'
import { isUsable } from '@/shared/lib/text/epay'
import { rupiah, wholeMinutes } from '@/shared/lib/text/format'
import { toast } from '@/shared/lib/toast/toast'
import { serverNow } from '@/shared/realtime/clock'
import { Button } from '@/shared/ui/button'
import choices from '@/shared/ui/choice.module.css'
import type { Elements } from '@/shared/ui/elements'
import { Empty } from '@/shared/ui/empty'
import { Failed } from '@/shared/ui/failed'
import { Page } from '@/shared/ui/page'
import { ownerEpayQuery } from '../calls'
import { dropReceipt, type PurchaseFlow, purchaseFlow } from '../purchase-flow'
import { Waiting } from '../waiting'
import { EpayOption } from './epay-option'
import { MachineDrawing } from './machine-drawing'
import styles from './pilih-epay-page.module.css'

type FlowWithService = PurchaseFlow & Required<Pick<PurchaseFlow, 'layanan'>>

/** The E-Pay wallets that can pay for the chosen service. */
export default function PilihEpayPage() {
  const [flow] = useState(purchaseFlow.read)
  return flow?.layanan ? <OwnerAccounts flow={{ ...flow, layanan: flow.layanan }} /> : <DirectEntry />
}

function Screen({ footer, children }: { footer?: Elements; children: Elements }) {
  return (
    <Page title={copy.epay.title} back={paths.dashboard} footer={footer}>
      {children}
    </Page>
  )
}

function OwnerAccounts({ flow }: { flow: FlowWithService }) {
  const navigate = useNavigate()
  const query = useQuery(ownerEpayQuery(flow.mesin.idowner))
  const accounts = asked(query, query.data)
  if (accounts.kind !== 'shown') return <NotYet state={accounts} />
  const tooLow = ({ quota_emoney }: AkunEpay) => (quota_emoney?.saldo ?? 0) < flow.layanan.harga

  function choose(epay: AkunEpay) {
    if (tooLow(epay)) {
      toast.failure(copy.pay.balanceTooLow, copy.epay.insufficientBody)
      return
    }
    // A new choice is a new visit of the payment, with a separate receipt.
    dropReceipt()
    purchaseFlow.write({ ...flow, epay })
    navigate(paths.pembayaran)
  }

  if (accounts.data.length === 0) return <NoAccount />
  return (
    <Screen footer={accounts.data.some(tooLow) && <ToTopUp variant="secondary" />}>
      <section className={styles.chosen}>
        <div className={styles.what}>
          <h2 className={styles.service}>{copy.epay.serviceAt(flow.layanan.nama, flow.mesin.nama)}</h2>
          <p className={styles.meta}>{copy.receipt.minutes(wholeMinutes(flow.layanan.durasi))}</p>
        </div>
        <p className={`digits ${styles.price}`}>{rupiah(flow.layanan.harga)}</p>
      </section>
      <p className={styles.count}>{copy.epay.found(accounts.data.length)}</p>
      <ul className={choices.surface}>
        {accounts.data.map((epay) => (
          <li key={epay.idcustomer}>
            <EpayOption epay={epay} price={flow.layanan.harga} onChoose={() => choose(epay)} />
          </li>
        ))}
      </ul>
      <MachineDrawing />
    </Screen>
  )
}

/** Opened without a chosen service: a customer without any balance gets a notice, others go back a step. */
function DirectEntry() {
  const query = useQuery(epayQuery())
  const accounts = asked(query, query.data)
  if (accounts.kind !== 'shown') return <NotYet state={accounts} />
  const now = serverNow()
  const usable = accounts.data.some((account) => isUsable(account, now))
  return usable ? <Navigate to={paths.pilihLayanan} replace /> : <NoAccount />
}

function NoAccount() {
  return (
    <Screen>
      <Empty title={copy.epay.notFound} body={copy.epay.emptyBody} action={<ToTopUp variant="primary" />} />
    </Screen>
  )
}

function ToTopUp({ variant }: { variant: 'primary' | 'secondary' }) {
  const navigate = useNavigate()
  return (
    <Button
      variant={variant}
      icon={<WalletMinimal size={20} aria-hidden />}
      onClick={() => navigate(paths.topUp)}
    >
      {copy.topUp.epayment}
    </Button>
  )
}

function NotYet({ state }: { state: Exclude<Asked<AkunEpay[]>, { kind: 'shown' }> }) {
  return <Screen>{state.kind === 'loading' ? <Waiting /> : <Failed {...state.failure} />}</Screen>
}
