import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { rupiah } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import { Dialog } from '@/shared/ui/dialog'
import { cashOf } from '@/till/api/calls'
import { needsApproval } from '@/till/api/client'
import { keys } from '@/till/api/keys'
import type { CashKind } from '@/till/api/types'
import { MAX_IN_DRAWER } from '@/till/lib/money/cash-count'
import { useMoney } from '@/till/lib/money/use-money'
import { notify } from '@/till/lib/page/notices'
import { AmountPad } from '@/till/ui/amount-pad'
import { Decide } from '@/till/ui/decide'
import { Unanswered } from '@/till/ui/unanswered'
import { View } from '@/till/ui/view'
import { CASH } from './cash-kinds'

interface Props {
  kind: CashKind | null
  onClose: () => void
}

/** Cash that enters or leaves the drawer, except for top-ups. */
export function CashDialog({ kind, onClose }: Props) {
  return (
    <Dialog open={kind !== null} onClose={onClose} title={kind ? CASH[kind].name : ''}>
      {kind && <Cash kind={kind} onClose={onClose} />}
    </Dialog>
  )
}

function Cash({ kind, onClose }: { kind: CashKind; onClose: () => void }) {
  const client = useQueryClient()
  const { name, does, reasons, approved } = CASH[kind]
  const [amount, setAmount] = useState(0)
  const [sure, setSure] = useState(false)
  const [needed, setNeeded] = useState(false)
  const money = useMoney<{ id: number }>('kas', {
    onRefused: (error) => {
      const asks = needsApproval(error)
      setNeeded(asks)
      return asks
    },
    onDone: () => {
      notify.info(`${name} sudah dicatat.`)
      void client.invalidateQueries({ queryKey: keys.shift })
      onClose()
    },
  })
  // The unanswered movement may be of the other kind.
  if (money.unanswered) return <Unanswered money={money} />
  if (!sure) {
    const go = () => {
      if (amount > 0) setSure(true)
    }
    return (
      <View label="Jumlah">
        <AmountPad label="Jumlah" value={amount} max={MAX_IN_DRAWER} onChange={setAmount} onEnter={go} />
        <Button disabled={amount === 0} onClick={go}>
          {amount > 0 ? `Lanjut dengan ${rupiah(amount)}` : 'Ketik jumlahnya'}
        </Button>
      </View>
    )
  }
  return (
    <Decide
      money={money}
      what={`${name} ${rupiah(amount)}.`}
      reasons={reasons}
      label={`${does} ${rupiah(amount)}`}
      approval={approved || needed ? { aksi: 'kas', objek: `${kind}:${amount}`, needed } : null}
      request={(alasan) => cashOf(kind, amount, alasan)}
    >
      <Button variant="quiet" disabled={money.pending} onClick={() => setSure(false)}>
        Ubah jumlah
      </Button>
    </Decide>
  )
}
