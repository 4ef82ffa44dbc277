import { useQueryClient } from '@tanstack/react-query'
import { ChevronRight, QrCode } from 'lucide-react'
import { formatLeft, rupiah } from '@/shared/lib/text/format'
import { billKeys } from '@/till/api/bill-calls'
import { type KeptBill, useKeptBills } from '@/till/lib/money/bills'
import { useServerNow } from '@/till/lib/page/clock'
import { OpenCalls } from '@/till/ui/open-calls'
import { draft } from '../draft'
import styles from './parts.module.css'
import { qris } from './parts-copy'
import { useBill } from './use-bill'

const OPEN = ['tagihan:', 'tarik:', 'pindah:']

/** Calls without an answer, and the bills that wait or have just ended. */
export function WaitingMoney() {
  const bills = useKeptBills()
  const client = useQueryClient()
  return (
    <>
      <OpenCalls about={OPEN} />
      {bills.length > 0 && (
        <section className={styles.waiting} aria-labelledby="qris-menunggu">
          <h2 id="qris-menunggu" className={styles.waitingTitle}>
            {qris.list}
          </h2>
          <ul className={styles.bills}>
            {bills.map((kept) => (
              <li key={kept.id}>
                <WaitingBill
                  kept={kept}
                  onOpen={() => {
                    void client.invalidateQueries({ queryKey: billKeys.bill(kept.id) })
                    draft.show(kept)
                  }}
                />
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

function WaitingBill({ kept, onOpen }: { kept: KeptBill; onOpen: () => void }) {
  const { data } = useBill(kept.id)
  const now = useServerNow()
  const left_ms = data ? Date.parse(data.kedaluwarsa_at) - now : 0
  return (
    <button type="button" className={styles.bill} data-ended={kept.ended} onClick={onOpen}>
      <QrCode size={20} aria-hidden />
      <span className={styles.billWords}>
        <strong>{kept.nama}</strong>
        <span className={styles.second}>
          {kept.ended === undefined ? (
            <>
              <span>{qris.left}</span>{' '}
              <span className="digits" translate="no">
                {formatLeft(left_ms)}
              </span>
            </>
          ) : (
            <span>{qris.states[kept.ended]}</span>
          )}
        </span>
      </span>
      <strong className="digits">{rupiah(kept.nominal)}</strong>
      <ChevronRight size={18} aria-hidden />
    </button>
  )
}
