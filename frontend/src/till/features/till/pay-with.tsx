import { Banknote, Landmark, type LucideIcon, QrCode } from 'lucide-react'
import type { PayMethod } from '@/till/api/types'
import { methodName, PAY_METHODS } from '@/till/lib/money/pay-method'
import { useQris } from '@/till/lib/session/use-qris'
import { draft, useDraft } from './draft'
import styles from './sale.module.css'

const ICONS: Record<PayMethod, LucideIcon> = { tunai: Banknote, qris: QrCode, transfer: Landmark }

export function PayWith() {
  const chosen = useDraft((state) => state.method)
  const offered = useQris() === 'off' ? PAY_METHODS.filter((one) => one !== 'qris') : PAY_METHODS
  return (
    <section className={styles.amounts} aria-labelledby="dibayar">
      <h2 id="dibayar" className={styles.heading}>
        Dibayar dengan
      </h2>
      <div className={styles.methods}>
        {offered.map((method) => {
          const Icon = ICONS[method]
          return (
            <button
              key={method}
              type="button"
              className={styles.method}
              aria-pressed={method === chosen}
              onClick={() => draft.pay(method)}
            >
              <Icon size={20} aria-hidden />
              <span>{methodName(method)}</span>
            </button>
          )
        })}
      </div>
    </section>
  )
}
