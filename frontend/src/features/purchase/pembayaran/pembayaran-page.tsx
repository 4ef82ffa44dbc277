import { useQuery } from '@tanstack/react-query'
import { Shirt } from 'lucide-react'
import { type CSSProperties, useEffect, useState } from 'react'
import { Navigate } from 'react-router'
import type { PriceNow } from '@/shared/api/model'
import { copy } from '@/shared/copy/copy'
import { paths } from '@/shared/lib/page/paths'
import { clockTime, formatDateTime, rupiah, wholeMinutes } from '@/shared/lib/text/format'
import { serverNow } from '@/shared/realtime/clock'
import { Button } from '@/shared/ui/button'
import { Page } from '@/shared/ui/page'
import { Porthole } from '@/shared/ui/porthole'
import { ownerEpayQuery } from '../calls'
import {
  acceptNewPrice,
  type CompleteFlow,
  leaveSent,
  openReceipt,
  type PurchaseReceipt,
  purchaseFlow,
  takeNewPrice,
} from '../purchase-flow'
import { PayOverlay } from './pay-overlay'
import styles from './pembayaran-page.module.css'
import { PriceDialog } from './price-dialog'
import { TornEdge } from './torn-edge'
import { usePay } from './use-pay'

/** Interval, ms, at which the time of the end is rendered again. */
const NOW_MS = 10_000

/** The receipt before paying; without a complete choice it redirects back one step. */
export default function PembayaranPage() {
  const [flow] = useState(purchaseFlow.read)
  if (!flow?.layanan || !flow.epay) return <Navigate to={paths.pilihEpay} replace />
  return <Visit chosen={{ ...flow, layanan: flow.layanan, epay: flow.epay }} />
}

/** One receipt after the other: each new price is a new receipt. */
function Visit({ chosen }: { chosen: CompleteFlow }) {
  const [{ flow, receipt, visit }, setNow] = useState(() => ({
    flow: chosen,
    receipt: openReceipt(chosen),
    visit: 0,
  }))
  return (
    <Receipt
      key={visit}
      flow={flow}
      receipt={receipt}
      onPrice={(price) => {
        const changed = takeNewPrice(receipt, flow, price)
        setNow({ flow: changed, receipt: openReceipt(changed), visit: visit + 1 })
      }}
    />
  )
}

interface ReceiptProps {
  flow: CompleteFlow
  receipt: PurchaseReceipt
  onPrice: (price: PriceNow) => void
}

function Receipt({ flow, receipt, onPrice }: ReceiptProps) {
  const { mesin, layanan, epay } = flow
  const before = useBalance(flow)
  // After the payment, a reload must not show the lowered balance as the one before.
  const balance = receipt.saldo ?? before
  const { phase, pay } = usePay(receipt, balance, flow, onPrice)
  const [isPriceNew, setIsPriceNew] = useState(flow.harga_lama !== undefined && receipt.paid_ms === null)
  const acceptPrice = () => {
    acceptNewPrice()
    setIsPriceNew(false)
  }
  // Number of digits, for which the style sheet makes room.
  const figures = String(layanan.harga).length

  return (
    <Page
      title={copy.pay.title}
      back={paths.dashboard}
      footer={
        <>
          <p className={styles.loaded}>
            <Shirt size={20} aria-hidden /> <span>{copy.pay.loaded(mesin.nama)}</span>
          </p>
          <Button pending={phase === 'sending' || phase === 'asking'} onClick={pay}>
            {copy.pay.start}
          </Button>
        </>
      }
    >
      <section className={styles.receipt} aria-label={copy.pay.title}>
        <div className={styles.lead} data-figures={figures} style={{ '--figures': figures } as CSSProperties}>
          <div className={styles.what}>
            <p className={styles.meta}>{copy.pay.youPay}</p>
            <p className={`digits ${styles.price}`}>{rupiah(layanan.harga)}</p>
            <p className={styles.service}>{copy.epay.serviceAt(layanan.nama, mesin.nama)}</p>
            <Until duration_s={layanan.durasi} />
          </div>
          <div className={styles.door} data-paid-machine>
            <Porthole state="free" />
          </div>
        </div>
        <dl className={styles.rows}>
          <Row label={copy.pay.balanceAt(epay.outlet?.nama ?? '')} value={rupiah(balance)} number />
          <Row label={copy.receipt.servicePrice} value={rupiah(-layanan.harga)} number tone="outgoing" />
          <Row label={copy.pay.balanceLeft} value={rupiah(balance - layanan.harga)} number tone="result" />
        </dl>
        <dl className={styles.rows}>
          <Row label={copy.receipt.machine} value={mesin.nama} />
          <Row label={copy.receipt.service} value={layanan.nama} />
          <Row
            label={copy.receipt.duration}
            value={copy.receipt.minutes(wholeMinutes(layanan.durasi))}
            number
          />
          <Row label={copy.receipt.outlet} value={mesin.outlet.nama} />
          <Row label={copy.receipt.date} value={formatDateTime(receipt.made_ms)} number />
          <Row label={copy.receipt.number} value={receipt.nota} number />
        </dl>
        <TornEdge />
      </section>
      <PayOverlay phase={phase} onRetry={pay} onLeave={() => leaveSent(receipt)} />
      <PriceDialog
        open={isPriceNew}
        before={flow.harga_lama ?? layanan.harga}
        price={layanan.harga}
        balance={balance}
        onClose={acceptPrice}
        onPay={() => {
          acceptPrice()
          pay()
        }}
      />
    </Page>
  )
}

/** The cycle's duration, and the time of its end if it starts now. */
function Until({ duration_s }: { duration_s: number }) {
  const [now, setNow] = useState(serverNow)
  useEffect(() => {
    const timer = setInterval(() => setNow(serverNow()), NOW_MS)
    return () => clearInterval(timer)
  }, [])
  const minutes = copy.receipt.minutes(wholeMinutes(duration_s))
  return <p className={styles.meta}>{copy.pay.endsAbout(minutes, clockTime(now + duration_s * 1000))}</p>
}

/** The balance before paying; fetched again after a reload, when the choice may be old. */
function useBalance({ mesin, epay }: CompleteFlow): number {
  const { data } = useQuery({
    ...ownerEpayQuery(mesin.idowner),
    // No refetch while paying: the receipt shows the balance before.
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
