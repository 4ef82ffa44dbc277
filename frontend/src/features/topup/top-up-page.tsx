import { useQuery } from '@tanstack/react-query'
import { QrCode, RefreshCw } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { keptHome } from '@/shared/api/kept-home'
import { useAccount } from '@/shared/api/use-account'
import { copy } from '@/shared/copy/copy'
import { paths } from '@/shared/lib/page/paths'
import { useHome } from '@/shared/lib/page/trail'
import { groupedTelp } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import { Guide } from '@/shared/ui/guide'
import { Page } from '@/shared/ui/page'
import type { PaidIn } from './paid-in'
import { paidIn as texts } from './paid-in-copy'
import { PaidInNote } from './paid-in-note'
import { QrPanel } from './qr-panel'
import { BillFoot } from './qris/bill-foot'
import { BillPanel } from './qris/bill-panel'
import { qrisQuery } from './qris/calls'
import { qris } from './qris/qris-copy'
import { QrisSheet } from './qris/qris-sheet'
import { type BillState, useBill } from './qris/use-bill'
import { useWasHidden } from './qris/use-was-hidden'
import styles from './top-up-page.module.css'
import { usePaidIn } from './use-paid-in'
import { useWakeLock } from './use-wake-lock'

export default function TopUpPage() {
  const { paidIn, accounts, again } = usePaidIn()
  const { data: outlets = [] } = useQuery(qrisQuery())
  const bill = useBill()
  const { state } = bill
  const wasHidden = useWasHidden(state.is === 'known' ? state.bill.idtagihan : null, bill.resumed)
  const [choosing, setChoosing] = useState(false)
  const home = useHome()
  const ticket = useRef<HTMLElement>(null)
  const came = paidIn ?? paidBill(state)
  // A refusal leaves the choice open.
  useEffect(() => {
    if (state.is === 'known' || state.is === 'unknown') setChoosing(false)
  }, [state.is])

  /** The customer has seen what came in. The socket may tell of the bill's money before the bill itself does. */
  function seen() {
    const own = state.is === 'known' && (paidBill(state) || came?.amount === state.bill.quota)
    if (own) bill.dismiss()
  }
  function startAgain() {
    seen()
    again()
    // The button disappears, and the focus would be lost with it.
    ticket.current?.focus()
  }

  return (
    <Page
      title={copy.bar.topUp}
      back={paths.dashboard}
      backAlways
      footer={
        came ? (
          <>
            <Button
              onClick={() => {
                seen()
                void home()
              }}
            >
              {texts.done}
            </Button>
            <Button variant="secondary" onClick={startAgain}>
              {texts.again}
            </Button>
          </>
        ) : state.is !== 'none' ? (
          <BillFoot state={state} onDismiss={bill.dismiss} />
        ) : (
          outlets.length > 0 && (
            <Button
              variant="secondary"
              icon={<QrCode size={20} aria-hidden />}
              aria-haspopup="dialog"
              onClick={() => setChoosing(true)}
            >
              {qris.title}
            </Button>
          )
        )
      }
    >
      <section ref={ticket} tabIndex={-1} className={styles.ticket}>
        {/* The element exists before its text, so that a screen reader announces the text when it appears. */}
        <div role="status">{came && <PaidInNote {...came} />}</div>
        {!came &&
          (state.is === 'none' ? (
            <Code />
          ) : (
            <BillPanel
              state={state}
              wasHidden={wasHidden}
              cancelling={bill.cancelling}
              onCancel={bill.cancel}
            />
          ))}
      </section>
      {!came && state.is === 'none' && <Guide title={copy.topUp.howTo} steps={copy.topUp.steps} />}
      {choosing && (
        <QrisSheet
          outlets={outlets}
          accounts={accounts}
          pending={bill.asking}
          onAsk={bill.ask}
          onClose={() => setChoosing(false)}
        />
      )}
    </Page>
  )
}

/** A bill that was paid, also while this screen was closed. */
function paidBill(state: BillState): Pick<PaidIn, 'amount' | 'balance'> | null {
  if (state.is !== 'known' || state.bill.status !== 'dibayar') return null
  return { amount: state.bill.quota, balance: state.bill.saldo_akhir ?? state.bill.quota }
}

/** The code for the cashier, and the customer's number where no code can be read. */
function Code() {
  const account = useAccount()
  const [seen] = useState(keptHome.load)
  // A customer who has seen the dashboard has a stored number, too: without network the cashier can use only that.
  const telp = account.data?.telp ?? seen?.data.dashboard.customer_global.telp
  useWakeLock()
  return (
    <>
      <QrPanel />
      {(telp || !account.error) && (
        <>
          <p className={styles.caption}>{copy.topUp.yourNumber}</p>
          <p className={`digits ${styles.number}`} translate="no">
            {telp ? groupedTelp(telp) : '\u00a0'}
          </p>
        </>
      )}
      <p className={styles.note}>
        <RefreshCw size={16} aria-hidden />
        {copy.topUp.updated}
      </p>
    </>
  )
}
