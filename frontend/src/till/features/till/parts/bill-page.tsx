import { ArrowLeft, QrCode, ScanLine, X } from 'lucide-react'
import { type ReactElement, useEffect, useEffectEvent, useRef } from 'react'
import { asApiError } from '@/shared/api/error'
import { useSubmit } from '@/shared/lib/form/use-submit'
import { formatLeft, rupiah } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import { Failed } from '@/shared/ui/failed'
import { Spinner } from '@/shared/ui/spinner'
import { type Bill, billOf, cancelBill } from '@/till/api/bill-calls'
import { type KeptBill, keptBills } from '@/till/lib/money/bills'
import { useMoney } from '@/till/lib/money/use-money'
import { useServerNow } from '@/till/lib/page/clock'
import { reasonOf } from '@/till/lib/page/explain'
import { notify } from '@/till/lib/page/notices'
import { useSession } from '@/till/lib/session/session'
import { useConnected } from '@/till/lib/session/use-connected'
import { useDevice } from '@/till/lib/session/use-device'
import { Qr } from '@/till/ui/qr'
import { Unanswered } from '@/till/ui/unanswered'
import { type Choice, draft, paid, useDraft } from '../draft'
import { Made } from '../made'
import styles from './parts.module.css'
import { qris } from './parts-copy'
import { isWaiting, useBill } from './use-bill'

interface Props {
  bill: KeptBill | 'new'
  /** Continues with the next customer; a bill that waits is followed further. */
  onNext: () => void
}

/** A QRIS bill from its making to its end. */
export function BillPage({ bill, onNext }: Props) {
  const { customer, choice } = useDraft()
  if (bill !== 'new') return <OneBill key={bill.id} kept={bill} onNext={onNext} />
  return (
    customer && choice && <NewBill id={customer.id_customer_global} nama={customer.nama} choice={choice} />
  )
}

function NewBill({ id, nama, choice }: { id: number; nama: string; choice: Choice }) {
  const typed = useDraft((state) => state.typed)
  const money = useMoney<Bill>(`tagihan:${id}`, {
    onDone: ({ idtagihan, nominal }) => {
      const kept = { id: idtagihan, nama, typed, nominal, made_at: Date.now() }
      keptBills.put(kept)
      draft.show(kept)
    },
  })
  const make = useEffectEvent(() => {
    if (money.unanswered) return
    const what = choice.is === 'package' ? { idpaket: choice.package.idpaket } : { nominal: choice.nominal }
    money.send(qris.what(paid(choice), nama), billOf({ id_customer_global: id, ...what }))
  })
  useEffect(() => make(), [])
  const stuck = !money.pending && (money.fault !== '' || money.unanswered !== null)
  return (
    <Page title={stuck ? qris.failed : qris.making}>
      {!stuck && <Spinner large />}
      <p className={styles.lead}>{qris.what(paid(choice), nama)}</p>
      {stuck && money.fault !== '' && (
        <p role="alert" className={styles.fault}>
          {money.fault}
        </p>
      )}
      <Unanswered money={money} />
      {stuck && <Back onClick={() => draft.show(null)} />}
    </Page>
  )
}

function OneBill({ kept, onNext }: { kept: KeptBill; onNext: () => void }) {
  const { data, error, isFetching, refetch } = useBill(kept.id)
  if (data?.status === 'dibayar') return <Paid kept={kept} bill={data} onNext={onNext} />
  if (data && !isWaiting(data.status)) return <Ended status={data.status} onNext={onNext} />
  if (!data) {
    if (!error) return <Spinner large />
    return (
      <Page title={qris.waiting}>
        <Failed error={error} pending={isFetching} onRetry={() => void refetch()} />
        <Next onClick={onNext} />
      </Page>
    )
  }
  return (
    <Waiting kept={kept} bill={data} failed={error !== null} onNext={onNext} onLook={() => void refetch()} />
  )
}

interface WaitingProps {
  kept: KeptBill
  bill: Bill
  failed: boolean
  onNext: () => void
  onLook: () => void
}

function Waiting({ kept, bill, failed, onNext, onLook }: WaitingProps) {
  const connected = useConnected()
  const left_ms = Date.parse(bill.kedaluwarsa_at) - useServerNow()
  const { pending, submit } = useSubmit(
    async () => {
      await cancelBill(kept.id)
      onLook()
    },
    (failure) => {
      // It was paid in the meantime: the next look shows it.
      if (asApiError(failure).status !== 409) notify.failure(reasonOf(failure))
      onLook()
    },
  )
  return (
    <Page
      title={qris.waiting}
      picture={
        bill.qr !== null && <Qr text={bill.qr} label={qris.code(bill.nominal)} className={styles.qr} />
      }
    >
      {bill.qr === null && <Spinner large />}
      <p className={styles.sum}>
        <strong className={`digits ${styles.money}`} translate="no">
          {rupiah(bill.nominal)}
        </strong>
        <span>{qris.for(kept.nama)}</span>
        {bill.quota !== bill.nominal && <span className={styles.lead}>{qris.gains(bill.quota)}</span>}
      </p>
      <p className={styles.left} data-over={left_ms <= 0 || undefined}>
        {left_ms > 0 ? (
          <>
            <span>{qris.left}</span>{' '}
            <strong className="digits" translate="no">
              {formatLeft(left_ms)}
            </strong>
          </>
        ) : (
          <span>{qris.lastWord}</span>
        )}
      </p>
      <p className={styles.lead} role="status">
        {connected && !failed ? qris.how : qris.offline}
      </p>
      <Next onClick={onNext} />
      <Button
        variant="secondary"
        icon={<X size={20} aria-hidden />}
        pending={pending}
        disabled={!connected && !pending}
        onClick={() => submit()}
      >
        {qris.cancel}
      </Button>
    </Page>
  )
}

function Ended({ status, onNext }: { status: string; onNext: () => void }) {
  const again = useDraft(({ customer, choice }) => customer !== null && choice !== null)
  return (
    <Page title={qris.ended[status] ?? qris.failed}>
      <p className={styles.lead}>{qris.endedBody[status]}</p>
      {again && status !== 'tertahan' && (
        <Button variant="secondary" icon={<QrCode size={20} aria-hidden />} onClick={() => draft.show('new')}>
          {qris.again}
        </Button>
      )}
      {again && <Back onClick={() => draft.show(null)} />}
      <Next onClick={onNext} />
    </Page>
  )
}

function Paid({ kept, bill, onNext }: { kept: KeptBill; bill: Bill; onNext: () => void }) {
  const outlet = useDevice().data?.outlet ?? null
  const cashier = useSession(({ session }) => session?.petugas.nama) ?? ''
  return (
    <Made
      topUp={{
        outlet,
        cashier,
        customer: kept.nama,
        paid: bill.nominal,
        gained: bill.quota,
        method: 'qris',
        number: bill.idpembelian_emoney ?? '',
        at: new Date(bill.server_time).toISOString(),
        balance: bill.saldo_akhir,
        copy: false,
      }}
      typed={kept.typed}
      undo_ms={null}
      onNext={onNext}
    />
  )
}

const Next = ({ onClick }: { onClick: () => void }) => (
  <div className={styles.next}>
    <Button icon={<ScanLine size={20} aria-hidden />} onClick={onClick}>
      {qris.next}
    </Button>
  </div>
)

const Back = ({ onClick }: { onClick: () => void }) => (
  <Button variant="quiet" icon={<ArrowLeft size={20} aria-hidden />} onClick={onClick}>
    {qris.back}
  </Button>
)

type Part = ReactElement | false | null

/** A picture beside text. It takes the focus, because the button that had it is no longer shown. */
function Page({
  title,
  picture = null,
  children,
}: {
  title: string
  picture?: Part
  children: Part | Part[]
}) {
  const here = useRef<HTMLElement>(null)
  useEffect(() => here.current?.focus({ preventScroll: true }), [])
  return (
    <section ref={here} tabIndex={-1} className={styles.page} aria-labelledby="qris">
      {picture}
      <div className={styles.words}>
        <div role="status">
          <h2 id="qris" className={styles.title}>
            {title}
          </h2>
        </div>
        {children}
      </div>
    </section>
  )
}
