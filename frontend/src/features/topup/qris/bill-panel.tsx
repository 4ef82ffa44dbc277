import type { Bill } from '@/shared/api/model'
import { copy } from '@/shared/copy/copy'
import { formatLeft, rupiah } from '@/shared/lib/text/format'
import { useCountdown } from '@/shared/realtime/use-countdown'
import { Button } from '@/shared/ui/button'
import { FailedPart } from '@/shared/ui/failed-part'
import { Spinner } from '@/shared/ui/spinner'
import panel from '../top-up-page.module.css'
import styles from './qris.module.css'
import { qris } from './qris-copy'
import { type BillState, isOpen } from './use-bill'

interface Props {
  state: Exclude<BillState, { is: 'none' }>
  /** The customer comes back from another app, where they may have paid. */
  wasHidden: boolean
  cancelling: boolean
  onCancel: () => void
}

/** In the place of the customer's code: the bill's QR, how long it can be paid, and what the app waits for. */
export function BillPanel({ state, ...open }: Props) {
  if (state.is === 'asking') return <Preparing />
  if (state.is === 'unknown') {
    const { error, pending, onRetry } = state.failure
    return (
      <FailedPart className={styles.failed} title={qris.unanswered} error={error}>
        <p>{qris.unansweredBody}</p>
        <Button pending={pending} onClick={onRetry}>
          {copy.common.tryAgain}
        </Button>
      </FailedPart>
    )
  }
  const { bill } = state
  if (bill.status === 'tertahan') return <Ended title={qris.held} body={qris.heldBody(bill.idtagihan)} />
  if (!isOpen(bill)) return <Ended title={qris.over} body={qris.overBody} />
  return <Open {...open} bill={bill} />
}

function Open({ bill, wasHidden, cancelling, onCancel }: Omit<Props, 'state'> & { bill: Bill }) {
  const left_s = useCountdown(Date.parse(bill.kedaluwarsa_at)) ?? 0
  // What the customer pays now must not be paid again: only the bank's answer counts.
  const atBank = wasHidden || left_s === 0
  const [title, body] = !bill.png
    ? [qris.preparing, qris.preparingBody]
    : atBank
      ? [qris.atBank, qris.atBankBody]
      : [qris.waiting, qris.hint]
  const amount = rupiah(bill.nominal)
  return (
    <div className={styles.bill}>
      <p className={panel.caption}>{qris.pay}</p>
      <p className={`digits ${panel.number}`} translate="no">
        {amount}
      </p>
      <p className={`${panel.caption} ${styles.outlet}`}>
        <span>{bill.outlet}</span>
        {bill.quota !== bill.nominal && <span>{` · ${qris.adds(rupiah(bill.quota))}`}</span>}
      </p>
      <div className={panel.panel}>
        {bill.png ? (
          <img className={panel.qr} src={`data:image/png;base64,${bill.png}`} alt={qris.alt(amount)} />
        ) : (
          <span className={panel.waiting}>
            <Spinner large />
          </span>
        )}
      </div>
      <div role="status" className={styles.news}>
        <p className={styles.waiting}>{title}</p>
        <p className={panel.caption}>{body}</p>
      </div>
      {left_s > 0 && (
        <p className={panel.caption}>
          <span>{qris.left}</span>{' '}
          <span className="digits" translate="no">
            {formatLeft(left_s * 1000)}
          </span>
        </p>
      )}
      <Button variant="quiet" pending={cancelling} onClick={onCancel}>
        {qris.cancel}
      </Button>
    </div>
  )
}

function Preparing() {
  return (
    <p role="status" className={styles.preparing}>
      <Spinner large />
      <span>{qris.preparing}</span>
    </p>
  )
}

function Ended({ title, body }: { title: string; body: string }) {
  return (
    <div role="status" className={styles.ended}>
      <p className={styles.waiting}>{title}</p>
      <p className={panel.caption}>{body}</p>
    </div>
  )
}
