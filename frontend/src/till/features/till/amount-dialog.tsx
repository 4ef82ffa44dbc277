import { useState } from 'react'
import { rupiah } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import { Dialog } from '@/shared/ui/dialog'
import { AmountPad } from '@/till/ui/amount-pad'

interface Props {
  open: boolean
  onClose: () => void
  onAmount: (nominal: number) => void
}

export function AmountDialog(props: Props) {
  return (
    <Dialog open={props.open} onClose={props.onClose} title="Jumlah lain">
      <Amount onAmount={props.onAmount} />
    </Dialog>
  )
}

/** A separate component, so that its state is new each time the dialog opens. */
function Amount({ onAmount }: Pick<Props, 'onAmount'>) {
  const [nominal, setNominal] = useState(0)
  const take = () => {
    if (nominal > 0) onAmount(nominal)
  }
  return (
    <>
      <AmountPad label="Jumlah isi saldo" value={nominal} onChange={setNominal} onEnter={take} />
      <Button disabled={nominal === 0} onClick={take}>
        {nominal > 0 ? `Pakai ${rupiah(nominal)}` : 'Ketik jumlahnya'}
      </Button>
    </>
  )
}
