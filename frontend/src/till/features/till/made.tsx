import { useQueryClient } from '@tanstack/react-query'
import { ScanLine, Undo2 } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { formatLeft, rupiah } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import { keys } from '@/till/api/keys'
import { moneyBack } from '@/till/lib/money/pay-method'
import { useNow } from '@/till/lib/page/clock'
import { GiveReceipt } from '@/till/ui/give-receipt'
import { type ToppedUp, topUpReceipt } from '@/till/ui/receipt'
import { TornCard } from '@/till/ui/torn-card'
import { draft } from './draft'
import styles from './made.module.css'
import { isPrinting } from './printing'
import { useParts } from './use-parts'

/** The receipt that was printed automatically: not again after a visit to another screen. */
let printed = ''

interface Props {
  topUp: ToppedUp
  /** The customer's number, if it was typed. */
  typed: string | null
  /** How long it can be reversed here, from its receipt on, ms; null: not here. */
  undo_ms: number | null
  onNext: () => void
}

/** The top-up succeeded: the result, the receipt, and the way to the next customer. */
export function Made({ topUp, typed, undo_ms, onNext }: Props) {
  const { customer, number, paid, gained, method, balance } = topUp
  const receipt = topUpReceipt(topUp)
  const client = useQueryClient()
  const { ReversalDialog } = useParts()
  const [reversed, setReversed] = useState<number | null>(null)
  const [reversing, setReversing] = useState(false)
  const next = useRef<HTMLDivElement>(null)
  const [byItself] = useState(() => isPrinting() && printed !== number)

  useEffect(() => {
    for (const queryKey of [keys.topUps, keys.shift]) void client.invalidateQueries({ queryKey })
    // Enter, or a touch, continues with the next customer.
    next.current?.querySelector('button')?.focus({ preventScroll: true })
  }, [client])
  useEffect(() => {
    printed = number
  }, [number])

  return (
    <section className={styles.made} aria-labelledby="masuk">
      <div className={styles.news}>
        <Ring undone={reversed !== null} />
        <div role="status">
          <h2 id="masuk" className={styles.title}>
            {reversed === null ? `Saldo ${customer} sudah masuk` : 'Top-up dibatalkan'}
          </h2>
          <p className={`digits ${styles.balance}`}>{rupiah(reversed ?? balance ?? 0)}</p>
        </div>
        <p className={styles.lead}>
          {reversed === null
            ? 'Pelanggan juga melihatnya di aplikasi'
            : method !== null && moneyBack(method, paid)}
        </p>
      </div>
      <div className={styles.more}>
        <TornCard>
          <dl className={styles.rows}>
            {receipt.lines.map(([name, value]) => (
              <div key={name} className={styles.row}>
                <dt>{name}</dt>
                <dd className="digits" data-plus={name === 'Isi saldo' || undefined}>
                  {value}
                </dd>
              </div>
            ))}
          </dl>
        </TornCard>
        {reversed === null && <GiveReceipt receipt={receipt} typed={typed} byItself={byItself} />}
        {reversed === null && undo_ms !== null && ReversalDialog && (
          <ReversalLine undo_ms={undo_ms} onReverse={() => setReversing(true)} />
        )}
        <div ref={next} className={styles.next}>
          <Button icon={<ScanLine size={20} aria-hidden />} onClick={onNext}>
            Pelanggan berikutnya
          </Button>
        </div>
      </div>
      {ReversalDialog && (
        <ReversalDialog
          open={reversing}
          id={number}
          quota={gained}
          nama={customer}
          onClose={() => setReversing(false)}
          onReversed={(balance) => {
            setReversing(false)
            setReversed(balance)
            draft.clear()
            for (const queryKey of [keys.topUps, keys.shift]) void client.invalidateQueries({ queryKey })
          }}
        />
      )}
    </section>
  )
}

/** The time left to reverse it, by the server's clock: the tablet's own may be wrong. */
function ReversalLine({ undo_ms, onReverse }: { undo_ms: number; onReverse: () => void }) {
  const [shown_at] = useState(Date.now)
  const now = useNow(1_000)
  const left_ms = undo_ms - Math.max(0, now - shown_at)
  if (!(left_ms > 0)) return null
  return (
    <div className={styles.reversal}>
      <p>
        Salah jumlah? Sisa waktu{' '}
        <span className="digits" translate="no">
          {formatLeft(left_ms)}
        </span>
      </p>
      <button type="button" className={styles.undo} onClick={onReverse}>
        <Undo2 size={18} aria-hidden />
        Batalkan
      </button>
    </div>
  )
}

function Ring({ undone }: { undone: boolean }) {
  return (
    <svg className={styles.ring} data-undone={undone || undefined} viewBox="0 0 120 120" aria-hidden="true">
      <circle cx="60" cy="60" r="54" className={styles.track} />
      <circle cx="60" cy="60" r="45" className={styles.glass} />
      <path d={undone ? 'M46 46l28 28M74 46L46 74' : 'M43 61l12 12 23-25'} className={styles.check} />
    </svg>
  )
}
