import { useId, useState } from 'react'
import { Button } from '@/shared/ui/button'
import type { Elements } from '@/shared/ui/elements'
import { Field } from '@/shared/ui/field'
import type { MoneyRequest } from '@/till/api/calls'
import type { ApprovedAction } from '@/till/api/types'
import { sentence } from '@/till/lib/sentence'
import { mayApprove, useSession } from '@/till/lib/session'
import { useConnected } from '@/till/lib/use-connected'
import type { Money } from '@/till/lib/use-money'
import { Approval } from '@/till/ui/approval'
import { Unanswered } from '@/till/ui/unanswered'
import { View } from '@/till/ui/view'
import styles from './decide.module.css'

/** The chip behind which somebody writes. */
const OTHER = 'Lainnya'
/** The server's limit. */
const LONGEST = 500

interface Props<T> {
  money: Money<T>
  /** What is done, in a sentence: for the supervisor, and for whoever asks what became of it. */
  what: string
  reasons: readonly string[]
  /** What the button does. */
  label: string
  danger?: boolean
  /** Above the reasons. */
  children?: Elements
  /**
   * What a supervisor has to allow a kasir; null where nobody has to. With `needed` the server is asked first, because it may refuse
   * whatever a supervisor says: it is true once that has asked for one.
   */
  approval: { aksi: ApprovedAction; objek: string; needed?: boolean } | null
  request: (alasan: string) => MoneyRequest<T>
}

/** Why, and, for a kasir, a supervisor's PIN: the last step before money moves. */
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
