import { useRef, useState } from 'react'
import { voidTopUp } from '@/kasir/api/calls'
import { newCallKey } from '@/kasir/lib/call-key'
import { reasonOf } from '@/kasir/lib/explain'
import { mayApprove, useSession } from '@/kasir/lib/session'
import { Approval } from '@/kasir/ui/approval'
import { asApiError } from '@/shared/api/error'
import { useSubmit } from '@/shared/lib/use-submit'
import { Button } from '@/shared/ui/button'
import { Dialog } from '@/shared/ui/dialog'
import styles from './void-dialog.module.css'

const REASONS = ['Salah jumlah', 'Salah pelanggan', 'Batal bayar', 'Lainnya']

interface Props {
  open: boolean
  /** The top-up's. */
  id: string
  what: string
  onClose: () => void
  onVoided: (balance: number) => void
}

/** Undoes a top-up: why, and for a kasir a supervisor's PIN. */
export function VoidDialog({ open, onClose, ...rest }: Props) {
  return (
    <Dialog open={open} onClose={onClose} title="Batalkan top-up">
      <VoidForm {...rest} />
    </Dialog>
  )
}

function VoidForm({ id, what, onVoided }: Omit<Props, 'open' | 'onClose'>) {
  const alone = useSession(({ session }) => session !== null && mayApprove(session.petugas.role))
  const [reason, setReason] = useState<string | null>(null)
  const [asking, setAsking] = useState(false)
  const [fault, setFault] = useState('')
  // One that nobody answered is asked again by its key; any answer ends it.
  const key = useRef<string | null>(null)

  const { pending, submit } = useSubmit(async (izin?: string) => {
    if (!reason) return
    setFault('')
    key.current ??= newCallKey()
    try {
      onVoided((await voidTopUp(key.current, id, reason, izin)).saldo_akhir)
    } catch (error) {
      const { unanswered, status } = asApiError(error)
      if (!unanswered && status < 500) key.current = null
      setFault(reasonOf(error))
    }
  })

  if (asking && reason) {
    return (
      <Approval
        aksi="batal"
        objek={id}
        what={`${what}, alasan: ${reason.toLocaleLowerCase('id')}`}
        pending={pending}
        fault={fault}
        onApproved={submit}
      />
    )
  }
  return (
    <>
      <p>{what}</p>
      <fieldset className={styles.reasons} aria-label="Alasan">
        {REASONS.map((one) => (
          <button
            key={one}
            type="button"
            className={styles.reason}
            aria-pressed={one === reason}
            disabled={pending || key.current !== null}
            onClick={() => setReason(one)}
          >
            {one}
          </button>
        ))}
      </fieldset>
      {fault && (
        <p role="alert" className={styles.fault}>
          {fault}
        </p>
      )}
      <Button
        variant="danger"
        disabled={reason === null}
        pending={pending}
        onClick={() => (alone ? submit() : setAsking(true))}
      >
        {reason === null ? 'Pilih alasannya' : 'Batalkan top-up'}
      </Button>
    </>
  )
}
