import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { ApiError } from '@/shared/api/error'
import { rupiah } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import { Dialog } from '@/shared/ui/dialog'
import { needsApproval } from '@/till/api/client'
import { keys } from '@/till/api/keys'
import type { FoundCustomer } from '@/till/api/types'
import { topUps, useTopUpState } from '@/till/lib/money/top-ups'
import { Approval } from '@/till/ui/approval'

/** The server's sentences after which the till offers a way to continue. */
const SAME_AGAIN = 'top-up yang sama baru saja dibuat'
const NO_SHIFT = 'shift belum dibuka'

/** Maximum that a cashier may sell one customer within an hour without a supervisor. */
const MAX_ALONE = 1_000_000

const isSame = ({ status, message }: ApiError) => status === 409 && message === SAME_AGAIN

const isNoShift = ({ message }: ApiError) => message === NO_SHIFT

/** Whether a refusal is shown in another place: by a dialog that asks, or where the shift is opened. */
export const isShownSeparately = (error: ApiError) =>
  isSame(error) || needsApproval(error) || isNoShift(error)

export function Refused({ customer: { nama, id_customer_global } }: { customer: FoundCustomer }) {
  const client = useQueryClient()
  const topUp = useTopUpState()
  const refused = topUp.is === 'refused' ? topUp : null
  const noShift = refused !== null && isNoShift(refused.error)
  useEffect(() => {
    if (noShift) void client.invalidateQueries({ queryKey: keys.shift })
  }, [client, noShift])

  const close = () => topUps.done()
  const body = refused?.open.body
  return (
    <>
      <Dialog
        open={refused !== null && isSame(refused.error)}
        onClose={close}
        title="Top-up yang sama baru saja dibuat"
      >
        <p>
          {`Kurang dari semenit lalu ${nama} sudah diisi ${rupiah(body?.nominal ?? 0)}. Isi sekali lagi?`}
        </p>
        <Button
          onClick={() => {
            close()
            if (refused) topUps.start({ ...refused.open.body, ulang: true }, refused.open)
          }}
        >
          Ya, isi sekali lagi
        </Button>
        <Button variant="secondary" onClick={close}>
          Tidak
        </Button>
      </Dialog>
      <Dialog
        open={refused !== null && needsApproval(refused.error)}
        onClose={close}
        title="Perlu persetujuan supervisor"
      >
        {body && body.nominal <= MAX_ALONE && (
          <p>
            {`Dalam satu jam terakhir ${nama} sudah diisi di outlet ini. Bersama yang ini jumlahnya di atas ${rupiah(MAX_ALONE)}.`}
          </p>
        )}
        <Approval
          aksi="topup"
          objek={`${id_customer_global}:${body?.nominal ?? 0}`}
          what={`Isi ${rupiah(body?.nominal ?? 0)} untuk ${nama}`}
          pending={false}
          onApproved={(izin) => topUps.approve(izin)}
        />
      </Dialog>
    </>
  )
}
