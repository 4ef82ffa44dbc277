import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Navigate } from 'react-router'
import { keys } from '@/shared/api/keys'
import { getEpayOfOwner } from '@/shared/api/purchase'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { formatDateTime, rupiah, wholeMinutes } from '@/shared/lib/format'
import { paths } from '@/shared/lib/paths'
import { leaveSent, openReceipt, type PurchaseFlow, purchaseFlow } from '@/shared/lib/purchase-flow'
import { Button } from '@/shared/ui/button'
import { Page } from '@/shared/ui/page'
import { PayOverlay } from './pay-overlay'
import styles from './pembayaran-page.module.css'
import { usePay } from './use-pay'

/** The receipt before paying; with something missing it leads back one step. */
export default function PembayaranPage() {
  const [flow] = useState(purchaseFlow.read)
  if (!flow?.layanan || !flow.epay) return <Navigate to={paths.pilihEpay} replace />
  return <Receipt flow={{ ...flow, layanan: flow.layanan, epay: flow.epay }} />
}

function Receipt({ flow }: { flow: Required<PurchaseFlow> }) {
  const { mesin, layanan, epay } = flow
  const [receipt] = useState(() => openReceipt(flow))
  const before = useBalance(flow)
  // Once paid, a reload must not show the lowered balance as the one before.
  const balance = receipt.saldo ?? before
  const { phase, pay } = usePay(receipt, balance, mesin.nama)

  return (
    <Page title={added.pay.title} back={paths.dashboard}>
      <section className={styles.receipt} aria-label={added.pay.title}>
        <dl className={styles.rows}>
          <Row label={spec.receiptNumber} value={receipt.nota} number />
          <Row label={added.receipt.date} value={formatDateTime(receipt.made_ms)} number />
          <Row label={added.receipt.machine} value={mesin.nama} />
          <Row label={added.receipt.service} value={layanan.nama} />
          <Row
            label={added.receipt.duration}
            value={added.receipt.minutes(wholeMinutes(layanan.durasi))}
            number
          />
          <Row label={added.receipt.outlet} value={mesin.outlet.nama} />
        </dl>
        <dl className={`${styles.rows} ${styles.money}`}>
          <Row label={added.pay.balanceAt(epay.outlet?.nama ?? '')} value={rupiah(balance)} number />
          <Row label={spec.servicePrice} value={rupiah(-layanan.harga)} number tone="outgoing" />
          <Row label={added.pay.balanceLeft} value={rupiah(balance - layanan.harga)} number tone="result" />
        </dl>
      </section>
      <div className={styles.action}>
        <Button pending={phase === 'sending' || phase === 'asking'} onClick={pay}>
          {spec.payAndStart}
        </Button>
      </div>
      <PayOverlay phase={phase} onRetry={pay} onLeave={() => leaveSent(receipt)} />
    </Page>
  )
}

/** The balance before paying; asked for again after a reload, when what was chosen may be old. */
function useBalance({ mesin, epay }: Required<PurchaseFlow>): number {
  const { data } = useQuery({
    queryKey: keys.ownerEpay(mesin.idowner),
    queryFn: ({ signal }) => getEpayOfOwner(mesin.idowner, signal),
    // Not while paying: the balance before is what the receipt shows.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
  const now = data?.find(({ idcustomer }) => idcustomer === epay.idcustomer) ?? epay
  return now.quota_emoney?.saldo ?? 0
}

interface RowProps {
  label: string
  value: string
  number?: boolean
  tone?: 'outgoing' | 'result'
}

function Row({ label, value, number = false, tone }: RowProps) {
  return (
    <div className={styles.row} data-tone={tone}>
      <dt>{label}</dt>
      <dd className={number ? 'digits' : undefined}>{value}</dd>
    </div>
  )
}
