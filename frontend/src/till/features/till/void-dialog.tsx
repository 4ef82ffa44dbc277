import { Dialog } from '@/shared/ui/dialog'
import type { TopUpVoided } from '@/till/api/types'
import { useMoney } from '@/till/lib/money/use-money'
import { VoidTopUp, voidSubject } from '@/till/ui/void-top-up'

interface Props {
  /** The top-up's. */
  id: string
  quota: number
  nama: string
  onVoided: (balance: number) => void
}

/** Reverses a top-up that was just made. */
export function VoidDialog({ open, onClose, ...rest }: Props & { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="Batalkan top-up">
      <VoidForm {...rest} />
    </Dialog>
  )
}

function VoidForm({ onVoided, ...topUp }: Props) {
  const money = useMoney<TopUpVoided>(voidSubject(topUp.id), {
    onDone: ({ saldo_akhir }) => onVoided(saldo_akhir),
  })
  return <VoidTopUp {...topUp} money={money} />
}
