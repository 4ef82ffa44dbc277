import { useNavigate } from 'react-router'
import { copy } from '@/shared/copy/copy'
import { paths } from '@/shared/lib/page/paths'
import { rupiah } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import { Dialog, Foot } from '@/shared/ui/dialog'
import { acceptNewPrice } from '../purchase-flow'
import { pembayaran } from './pembayaran-copy'
import styles from './pembayaran-page.module.css'

interface Props {
  open: boolean
  /** Rupiah. */
  before: number
  price: number
  balance: number
  onClose: () => void
  onPay: () => void
}

/** The price has changed since the customer chose the service: only another tap pays the new one. */
export function PriceDialog({ open, before, price, balance, onClose, onPay }: Props) {
  const navigate = useNavigate()
  const enough = balance >= price

  function chooseAgain() {
    acceptNewPrice()
    navigate(paths.pilihLayanan)
  }

  return (
    <Dialog open={open} onClose={onClose} title={pembayaran.priceChanged(rupiah(price))}>
      <p className={styles.meta}>
        {before === price ? pembayaran.notPaid : pembayaran.priceBefore(rupiah(before))}
      </p>
      {!enough && (
        <p className={styles.short}>
          <strong>{copy.epay.insufficient}</strong> <span>{copy.epay.insufficientBody}</span>
        </p>
      )}
      <Foot>
        {enough && <Button onClick={onPay}>{pembayaran.payNew(rupiah(price))}</Button>}
        <Button variant="secondary" onClick={chooseAgain}>
          {pembayaran.chooseAgain}
        </Button>
      </Foot>
    </Dialog>
  )
}
