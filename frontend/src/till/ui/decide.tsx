import { useId, useState } from 'react'
import { sentence } from '@/shared/lib/text/sentence'
import { Button } from '@/shared/ui/button'
import type { Elements } from '@/shared/ui/elements'
import { Field } from '@/shared/ui/field'
import type { MoneyRequest } from '@/till/api/calls'
import type { ApprovedAction } from '@/till/api/types'
import type { Money } from '@/till/lib/money/use-money'
import { mayApprove, useSession } from '@/till/lib/session/session'
import { useConnected } from '@/till/lib/session/use-connected'
import { Approval } from '@/till/ui/approval'
import { Unanswered } from '@/till/ui/unanswered'
import { View } from '@/till/ui/view'
import styles from './decide.module.css'

/** The chip that opens a text field. */
const OTHER = 'Lainnya'
/** The server's limit. */
const LONGEST = 500

interface Props<T> {
  money: Money<T>
  /** The action as a sentence: for the supervisor, and for the member of staff who asks for its outcome. */
  what: string
  reasons: readonly string[]
  /** The button's text. */
  label: string
  danger?: boolean
  /** Shown above the reasons. */
  children?: Elements
  /**
   * The approval that a cashier needs; null where none is needed. With `needed` the server is asked first, because it may refuse
   * regardless of a supervisor: it is true once the server has required one.
   */
  approval: { aksi: ApprovedAction; objek: string; needed?: boolean } | null
  request: (alasan: string) => MoneyRequest<T>
}

/** Asks for a reason and, for a cashier, a supervisor's PIN: the last step before money moves. */
export function Decide<T>(props: Props<T>) {
  const { money, what, reasons, label, danger = false, children, approval, request } = props
  const alone = useSession(({ session }) => session !== null && mayApprove(session.petugas.role))
  const connected = useConnected()
  const [chosen, setChosen] = useState<string | null>(null)
  const [written, setWritten] = useState('')
  const [asking, setAsking] = useState(false)
  const why = useId()

  if (money.unanswered) return <Unanswered money={money} />
  const reason = chosen === OTHER ? written.trim() : (chosen ?? '')
  if (approval && (approval.needed ?? asking)) {
    return (
      <View label="Persetujuan">
        <Approval
          aksi={approval.aksi}
          objek={approval.objek}
          what={`${what} Alasan: ${sentence(reason)}`}
          pending={money.pending}
          fault={money.fault}
          onApproved={(izin) => money.send(what, request(reason), izin)}
        />
      </View>
    )
  }

  const missing = !connected
    ? 'Tidak ada sambungan, belum bisa dikirim.'
    : chosen === null
      ? 'Pilih alasannya dulu.'
      : reason === ''
        ? 'Tulis alasannya dulu.'
        : ''
  const confirm = () => {
    if (approval && approval.needed === undefined && !alone) setAsking(true)
    else money.send(what, request(reason))
  }
  return (
    <View label="Alasan">
      <p>{what}</p>
      {children}
      <fieldset className={styles.reasons} aria-label="Alasan" disabled={money.pending}>
        {[...reasons, OTHER].map((one) => (
          <button
            key={one}
            type="button"
            className={styles.reason}
            aria-pressed={one === chosen}
            onClick={() => setChosen(one)}
          >
            {one}
          </button>
        ))}
      </fieldset>
      {chosen === OTHER && (
        <Field
          label="Alasannya"
          value={written}
          maxLength={LONGEST}
          disabled={money.pending}
          autoComplete="off"
          onChange={(event) => setWritten(event.target.value)}
        />
      )}
      {money.fault && (
        <p role="alert" className={styles.fault}>
          {money.fault}
        </p>
      )}
      <div className={styles.action}>
        <Button
          variant={danger ? 'danger' : 'primary'}
          disabled={missing !== '' && !money.pending}
          pending={money.pending}
          aria-describedby={why}
          onClick={confirm}
        >
          {label}
        </Button>
        <p id={why} className={styles.missing}>
          {missing}
        </p>
      </div>
    </View>
  )
}
