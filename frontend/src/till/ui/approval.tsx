import { useState } from 'react'
import { useSubmit } from '@/shared/lib/form/use-submit'
import { approve } from '@/till/api/calls'
import type { ApprovedAction } from '@/till/api/types'
import { reasonOf } from '@/till/lib/page/explain'
import { mayApprove } from '@/till/lib/session/session'
import { useDevice } from '@/till/lib/session/use-device'
import { ChoosePerson } from '@/till/ui/choose-person'
import { PinPad } from '@/till/ui/pin-pad'
import styles from './approval.module.css'

interface Props {
  aksi: ApprovedAction
  objek: string
  /** The action to approve, as a sentence. */
  what: string
  /** The approved action is in progress. */
  pending: boolean
  /** The reason of a failure. */
  fault?: string
  onApproved: (izin: string) => void
}

/** Asks for a supervisor's PIN in a cashier's session, for one action on one object. */
export function Approval({ aksi, objek, what, pending, fault = '', onApproved }: Props) {
  const supervisors = useDevice().data?.petugas.filter(({ role }) => mayApprove(role)) ?? []
  const [chosen, setChosen] = useState<number | null>(null)
  const [wrong, setWrong] = useState('')
  const supervisor = supervisors.find(({ id }) => id === chosen) ?? supervisors[0]

  const checking = useSubmit(async (pin: string) => {
    if (!supervisor) return
    setWrong('')
    try {
      onApproved(await approve({ idpetugas: supervisor.id, pin, aksi, objek }))
    } catch (error) {
      setWrong(reasonOf(error))
    }
  })

  if (!supervisor) return <p>Belum ada supervisor di outlet ini yang bisa menyetujui.</p>
  return (
    <div className={styles.approval}>
      <p className={styles.what}>{what}</p>
      {supervisors.length > 1 && (
        <ChoosePerson
          label="Siapa yang menyetujui"
          people={supervisors}
          chosen={supervisor.id}
          onChoose={setChosen}
        />
      )}
      <PinPad
        key={supervisor.id}
        label={`PIN ${supervisor.nama}`}
        message={wrong || fault}
        wrong
        disabled={false}
        pending={checking.pending || pending}
        onPin={checking.submit}
      />
    </div>
  )
}
