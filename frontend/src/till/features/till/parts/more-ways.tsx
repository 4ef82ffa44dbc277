import { ArrowRightLeft, HandCoins } from 'lucide-react'
import { useState } from 'react'
import { Button } from '@/shared/ui/button'
import type { FoundCustomer } from '@/till/api/types'
import { MoveDialog } from './move-dialog'
import styles from './parts.module.css'
import { move, payout } from './parts-copy'
import { PayoutDialog } from './payout-dialog'

interface Props {
  customer: FoundCustomer
  /** The customer's scanned code. */
  qr: string
  onNext: () => void
}

/** What else can be done for a customer whose own code was scanned. */
export function MoreWays({ customer, qr, onNext }: Props) {
  const [open, setOpen] = useState<'payout' | 'move' | null>(null)
  const close = () => setOpen(null)
  return (
    <div className={styles.more}>
      {(customer.saldo ?? 0) > 0 && (
        <Button
          variant="quiet"
          className={styles.moreWay}
          icon={<HandCoins size={18} aria-hidden />}
          onClick={() => setOpen('payout')}
        >
          {payout.title}
        </Button>
      )}
      <Button
        variant="quiet"
        className={styles.moreWay}
        icon={<ArrowRightLeft size={18} aria-hidden />}
        onClick={() => setOpen('move')}
      >
        {move.title}
      </Button>
      {open === 'payout' && <PayoutDialog customer={customer} qr={qr} onClose={close} onPaid={onNext} />}
      {open === 'move' && <MoveDialog customer={customer} qr={qr} onClose={close} onAsked={onNext} />}
    </div>
  )
}
