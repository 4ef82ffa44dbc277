import { Download } from 'lucide-react'
import type { Bill } from '@/shared/api/model'
import { saveFile } from '@/shared/lib/page/save-file'
import { Button } from '@/shared/ui/button'
import { ButtonLink } from '@/shared/ui/button-link'
import { qris } from './qris-copy'
import { type BillState, isOpen } from './use-bill'

interface Props {
  state: Exclude<BillState, { is: 'none' }>
  onDismiss: () => void
}

/** What the customer can do with the bill. */
export function BillFoot({ state, onDismiss }: Props) {
  const bill = state.is === 'known' ? state.bill : null
  if (!bill || !isOpen(bill)) {
    return state.is === 'asking' ? null : (
      <Button variant="secondary" onClick={onDismiss}>
        {qris.close}
      </Button>
    )
  }
  return (
    <>
      {bill.deeplink && <ButtonLink href={bill.deeplink}>{qris.open}</ButtonLink>}
      {bill.png && <SavePicture png={bill.png} variant={bill.deeplink ? 'secondary' : 'primary'} />}
    </>
  )
}

function SavePicture({ png, variant }: { png: NonNullable<Bill['png']>; variant: 'primary' | 'secondary' }) {
  return (
    <Button
      variant={variant}
      icon={<Download size={20} aria-hidden />}
      onClick={() => saveFile(qris.file, pictureFile(png))}
    >
      {qris.save}
    </Button>
  )
}

function pictureFile(png: string): Blob {
  const bytes = Uint8Array.from(atob(png), (char) => char.charCodeAt(0))
  return new Blob([bytes], { type: 'image/png' })
}
