import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { asApiError } from '@/shared/api/error'
import { useForm } from '@/shared/lib/form/use-form'
import { useSubmit } from '@/shared/lib/form/use-submit'
import { rupiah } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import { Dialog } from '@/shared/ui/dialog'
import { Failed } from '@/shared/ui/failed'
import { Field } from '@/shared/ui/field'
import { Spinner } from '@/shared/ui/spinner'
import { billKeys, getHeldBills, settleBill } from '@/till/api/bill-calls'
import { keys } from '@/till/api/keys'
import type { Attention } from '@/till/api/types'
import { reasonOf } from '@/till/lib/page/explain'
import { notify } from '@/till/lib/page/notices'
import { useConnected } from '@/till/lib/session/use-connected'
import { useMay } from '@/till/lib/session/use-me'
import { Rows } from '@/till/ui/rows'
import { View } from '@/till/ui/view'
import { tertahan as copy } from './perhatian-copy'
import styles from './perhatian-page.module.css'

const LONGEST = 500
const BILL_ID = /^NYL[0-9A-Z]{20}$/
const BILL_ID_LENGTH = 23

/** The server's sentence for a payment that was dealt with before. */
const SETTLED = 'catatan sudah ada'

/** QRIS payments of an outlet that the provider has received and that were not credited. An owner notes what was done about each. */
export function HeldDialog({ entry: { idoutlet }, onClose }: { entry: Attention; onClose: () => void }) {
  const client = useQueryClient()
  const settles = useMay()(['tagihan.selesai']) === true
  const [settled, setSettled] = useState<string[]>([])
  const [other, setOther] = useState(false)
  const bills = useQuery({
    queryKey: billKeys.held(idoutlet),
    queryFn: ({ signal }) => getHeldBills(idoutlet, signal),
    retry: false,
    refetchOnWindowFocus: false,
  })
  const held = bills.data?.baris.filter(({ idtagihan }) => !settled.includes(idtagihan)) ?? []
  const isOther = other || (held.length === 0 && settled.length === 0)
  function onSettled(id: string) {
    setSettled((before) => [...before, id])
    setOther(false)
    notify.info(copy.settled)
    void client.invalidateQueries({ queryKey: keys.attention })
  }
  return (
    <Dialog open onClose={onClose} title={copy.title}>
      {bills.data ? (
        <View label={copy.title}>
          <p>{copy.body}</p>
          {held.map((bill) => (
            <div key={bill.idtagihan} className={styles.form}>
              <Rows
                rows={[
                  [copy.amount, rupiah(bill.nominal)],
                  [copy.id, bill.idtagihan],
                ]}
              />
              {settles && <Settle id={bill.idtagihan} onSettled={onSettled} />}
            </div>
          ))}
          {!settles && <p className={styles.often}>{copy.ownerOnly}</p>}
          {settles && isOther && <Settle id={null} onSettled={onSettled} />}
          {settles && !isOther && (
            <Button variant="quiet" onClick={() => setOther(true)}>
              {copy.otherId}
            </Button>
          )}
        </View>
      ) : bills.isError ? (
        <Failed error={bills.error} pending={bills.isFetching} onRetry={() => void bills.refetch()} />
      ) : (
        <Spinner large />
      )}
    </Dialog>
  )
}

/** `id` is null for a payment that the list does not have: its bill was lost, or the money went back. The provider's account names it. */
function Settle({ id, onSettled }: { id: string | null; onSettled: (id: string) => void }) {
  const connected = useConnected()
  const [typed, setTyped] = useState('')
  const [note, setNote] = useState('')
  const [fault, setFault] = useState('')
  const which = id ?? typed.trim().toUpperCase()
  const { pending, submit } = useSubmit(async () => {
    setFault('')
    try {
      await settleBill(which, note.trim())
    } catch (error) {
      if (asApiError(error).message !== SETTLED) return setFault(reasonOf(error))
    }
    setTyped('')
    setNote('')
    onSettled(which)
  })
  const { form, field } = useForm<'id' | 'note'>(
    () => ({
      ...(!BILL_ID.test(which) && { id: copy.idWrong }),
      ...(note.trim() === '' && { note: copy.noteMissing }),
    }),
    () => submit(),
  )
  return (
    <form {...form} className={styles.form}>
      {id === null && (
        <Field
          label={copy.otherId}
          {...field('id')}
          hint={copy.otherHint}
          value={typed}
          maxLength={BILL_ID_LENGTH}
          autoComplete="off"
          disabled={pending}
          onChange={(event) => setTyped(event.target.value)}
        />
      )}
      <Field
        label={copy.note}
        {...field('note')}
        hint={copy.noteHint}
        value={note}
        maxLength={LONGEST}
        autoComplete="off"
        disabled={pending}
        onChange={(event) => setNote(event.target.value)}
      />
      {fault && (
        <p role="alert" className={styles.fault}>
          {fault}
        </p>
      )}
      <Button
        type="submit"
        variant={id === null ? 'secondary' : 'primary'}
        pending={pending}
        disabled={!connected && !pending}
      >
        {copy.settle}
      </Button>
    </form>
  )
}
