import { useState } from 'react'
import { formatDateTime, groupedTelp } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import { Dialog } from '@/shared/ui/dialog'
import { type MoveAsked, moveOf } from '@/till/api/bill-calls'
import type { FoundCustomer } from '@/till/api/types'
import { useMoney } from '@/till/lib/money/use-money'
import { mayApprove, useSession } from '@/till/lib/session/session'
import { useConnected } from '@/till/lib/session/use-connected'
import pad from '@/till/ui/amount-pad.module.css'
import { Approval } from '@/till/ui/approval'
import { ExtraKey, Keypad } from '@/till/ui/keypad'
import { Rows } from '@/till/ui/rows'
import { Unanswered } from '@/till/ui/unanswered'
import { View } from '@/till/ui/view'
import styles from './parts.module.css'
import { move } from './parts-copy'

/** As where a customer is looked up. */
const SHORTEST = 9
const LONGEST = 15

/** As the server names a number: without country code and zero. */
const national = (telp: string) => telp.replace(/^(0|62)/, '')

interface Props {
  /** The customer with the new number. */
  customer: FoundCustomer
  qr: string
  onClose: () => void
  onAsked: () => void
}

/** Moves the accounts of a lost number to the number whose code was scanned. */
export function MoveDialog({ customer, qr, onClose, onAsked }: Props) {
  const [asked, setAsked] = useState<MoveAsked | null>(null)
  return (
    <Dialog open onClose={asked ? onAsked : onClose} title={move.title}>
      {asked ? (
        <View label="Hasil">
          <p role="status" className={styles.says}>
            <strong>{move.done(formatDateTime(asked.terjadi_at))}</strong>
          </p>
          <p className={styles.lead}>{move.doneBody}</p>
          <Button onClick={onAsked}>{move.finish}</Button>
        </View>
      ) : (
        <Ask customer={customer} qr={qr} onAsked={setAsked} />
      )}
    </Dialog>
  )
}

function Ask({
  customer: { id_customer_global: id, nama, telp: newTelp },
  qr,
  onAsked,
}: Pick<Props, 'customer' | 'qr'> & { onAsked: (asked: MoveAsked) => void }) {
  const alone = useSession(({ session }) => session !== null && mayApprove(session.petugas.role))
  const connected = useConnected()
  const [telp, setTelp] = useState('')
  const [step, setStep] = useState<'number' | 'sure' | 'approval'>('number')
  const money = useMoney<MoveAsked>(`pindah:${id}`, { onDone: onAsked })
  if (money.unanswered) return <Unanswered money={money} />
  const enough = telp.length >= SHORTEST
  const goOn = () => {
    if (enough) setStep('sure')
  }
  if (step === 'number') {
    return (
      <View label={move.old}>
        <p>{move.body(nama)}</p>
        <div className={pad.amount}>
          <p className={pad.label}>{move.old}</p>
          <output className={`digits ${pad.value}`} aria-label={move.old} translate="no">
            {telp.startsWith('0') ? groupedTelp(telp) : telp}
          </output>
          <Keypad
            label={move.old}
            className={pad.keypad}
            onDigits={(digits) => setTelp((telp + digits).slice(0, LONGEST))}
            onBack={() => setTelp(telp.slice(0, -1))}
            onEnter={goOn}
            remember={() => () => setTelp(telp)}
            extra={telp && <ExtraKey onClick={() => setTelp('')}>Hapus</ExtraKey>}
          />
        </div>
        <Button disabled={!enough} onClick={goOn}>
          {enough ? move.goOn : move.typeFirst}
        </Button>
      </View>
    )
  }
  const what = move.what(telp, nama)
  const send = (izin?: string) => money.send(what, moveOf(qr, telp), izin)
  if (step === 'approval') {
    return (
      <View label="Persetujuan">
        <Approval
          aksi="pindah"
          objek={`${id}:${national(telp)}`}
          what={`${what} ${move.says}`}
          pending={money.pending}
          fault={money.fault}
          onApproved={send}
        />
      </View>
    )
  }
  return (
    <View label={move.title}>
      <Rows
        rows={[
          [move.from, groupedTelp(telp)],
          [move.to, `${newTelp}, ${nama}`],
        ]}
      />
      <p className={styles.says}>{move.says}</p>
      {money.fault && (
        <p role="alert" className={styles.fault}>
          {money.fault}
        </p>
      )}
      <Button
        pending={money.pending}
        disabled={!connected && !money.pending}
        onClick={() => (alone ? send() : setStep('approval'))}
      >
        {move.ask}
      </Button>
      <Button variant="quiet" disabled={money.pending} onClick={() => setStep('number')}>
        {move.other}
      </Button>
    </View>
  )
}
