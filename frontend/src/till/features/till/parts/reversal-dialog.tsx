import { Dialog } from '@/shared/ui/dialog'
import type { TopUpReversed } from '@/till/api/types'
import { useMoney } from '@/till/lib/money/use-money'
import { ReverseTopUp, reversalSubject } from '@/till/ui/reverse-top-up'

interface Props {
  /** The top-up's. */
  id: string
  quota: number
  nama: string
  onReversed: (balance: number) => void
}

/** Reverses a top-up that was just made. */
export function ReversalDialog({ open, onClose, ...rest }: Props & { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="Batalkan top-up">
      <ReversalForm {...rest} />
    </Dialog>
  )
}

function ReversalForm({ onReversed, ...topUp }: Props) {
  const money = useMoney<TopUpReversed>(reversalSubject(topUp.id), {
    onDone: ({ saldo_akhir }) => onReversed(saldo_akhir),
  })
  return <ReverseTopUp {...topUp} money={money} />
}
