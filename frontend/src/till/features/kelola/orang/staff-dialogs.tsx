import { useState } from 'react'
import { useForm } from '@/shared/lib/form/use-form'
import { Button } from '@/shared/ui/button'
import { Chips } from '@/shared/ui/chips'
import { Dialog, Foot } from '@/shared/ui/dialog'
import { Field } from '@/shared/ui/field'
import { dismiss, getStaff, hire, newFirstPin, type StaffRow, unlock } from '@/till/api/shop-calls'
import type { Me } from '@/till/api/types'
import { notify } from '@/till/lib/page/notices'
import { roleName } from '@/till/lib/session/role-name'
import { Rows } from '@/till/ui/rows'
import { ConfirmDialog } from '../confirm-dialog'
import styles from '../kelola.module.css'
import { SaveFoot } from '../save-foot'
import { useSave } from '../use-save'
import { petugas } from './orang-copy'
import { rolesBelow, type StaffRole } from './roles'

interface HireProps {
  me: Me
  idoutlet: number
  /** The largest id before: who is hired has a larger one. */
  newest: number
  onLook: () => void
  onClose: () => void
}

/** Hires a person, and shows their first PIN. */
export function HireDialog({ me, idoutlet, newest, onLook, onClose }: HireProps) {
  const [before] = useState(newest)
  const [nama, setNama] = useState('')
  const [role, setRole] = useState<StaffRole>('kasir')
  const [pin, setPin] = useState<string | null>(null)
  const name = nama.trim()
  const saving = useSave<string>({
    onDone(pin_awal) {
      onLook()
      setPin(pin_awal)
    },
  })

  /** This call has no key: before a repeat the page looks for who was hired, whose first PIN nobody has seen. */
  async function request(_key: string, maybeMade: boolean): Promise<string> {
    const made =
      maybeMade &&
      (await getStaff()).find(
        (one) => one.id > before && one.nama === name && one.role === role && one.idoutlet === idoutlet,
      )
    const { pin_awal } = made ? await newFirstPin(made.id) : await hire({ nama: name, role, idoutlet })
    return pin_awal
  }

  const { form, field } = useForm<'nama'>(
    () => (name === '' ? { nama: petugas.nameMissing } : {}),
    () => saving.save(request),
  )
  if (pin !== null) return <FirstPin name={name} pin={pin} onClose={onClose} />
  const busy = saving.pending || saving.open
  const roles = rolesBelow(me.role)
  return (
    <Dialog
      open
      onClose={onClose}
      title={petugas.newTitle}
      locked={saving.pending}
      typed={nama !== '' && !busy}
    >
      <form {...form} className={styles.form}>
        <fieldset className={styles.fields} disabled={busy}>
          <Field
            label={petugas.name}
            {...field('nama')}
            data-initial
            value={nama}
            maxLength={100}
            autoComplete="off"
            onChange={(event) => setNama(event.target.value)}
          />
          {roles.length > 1 && (
            <Chips
              label={petugas.role}
              options={roles.map((one) => ({ value: one, text: petugas.roles[one] }))}
              chosen={[role]}
              onChoose={setRole}
            />
          )}
          <p className={styles.second}>{petugas.roleBody[role]}</p>
        </fieldset>
        <SaveFoot saving={saving} label={petugas.save} onAgain={() => saving.again(request)} />
      </form>
    </Dialog>
  )
}

/** A first PIN, shown once. */
function FirstPin({ name, pin, onClose }: { name: string; pin: string; onClose: () => void }) {
  return (
    <Dialog open onClose={onClose} title={petugas.pinTitle(name)}>
      <p className={styles.secret} translate="no">
        {pin}
      </p>
      <p>{petugas.pinBody(name)}</p>
      <p className={styles.note}>{petugas.pinOnce}</p>
      <Foot>
        <Button onClick={onClose}>{petugas.done}</Button>
      </Foot>
    </Dialog>
  )
}

interface PersonProps {
  person: StaffRow
  onLook: () => void
  onClose: () => void
}

/** A member of staff, and what can be done about their PIN. */
export function PersonDialog({ person: { id, nama, role, dikunci }, onLook, onClose }: PersonProps) {
  const [pin, setPin] = useState<string | null>(null)
  const [dismissing, setDismissing] = useState(false)
  const renewing = useSave<string>({
    onDone(pin_awal) {
      onLook()
      setPin(pin_awal)
    },
  })
  const opening = useSave<null>({
    onDone() {
      onLook()
      notify.info(petugas.unlocked(nama))
      onClose()
    },
  })
  const newPin = async () => (await newFirstPin(id)).pin_awal
  if (pin !== null) return <FirstPin name={nama} pin={pin} onClose={onClose} />
  if (dismissing) {
    return (
      <ConfirmDialog
        label={petugas.dismiss}
        body={petugas.dismissBody(nama)}
        send={() => dismiss(id)}
        onBack={() => setDismissing(false)}
        onDone={() => {
          onLook()
          notify.info(petugas.dismissed(nama))
          onClose()
        }}
      />
    )
  }
  const pending = renewing.pending || opening.pending
  return (
    <Dialog open onClose={onClose} title={nama} locked={pending}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          renewing.save(newPin)
        }}
      >
        <Rows rows={[[petugas.role, roleName(role)]]} />
        {opening.fault && (
          <p role="alert" className={styles.fault}>
            {opening.fault}
          </p>
        )}
        {dikunci && (
          <Button pending={opening.pending} onClick={() => opening.save(() => unlock(id))}>
            {petugas.unlock}
          </Button>
        )}
        <p className={styles.second}>{petugas.newPinBody}</p>
        <SaveFoot saving={renewing} label={petugas.newPin} onAgain={() => renewing.again(newPin)}>
          <Button variant="danger" disabled={pending} onClick={() => setDismissing(true)}>
            {petugas.dismiss}
          </Button>
        </SaveFoot>
      </form>
    </Dialog>
  )
}
