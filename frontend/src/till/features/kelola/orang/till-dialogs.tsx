import { useState } from 'react'
import { useForm } from '@/shared/lib/form/use-form'
import { formatLeft } from '@/shared/lib/text/format'
import { useCountdown } from '@/shared/realtime/use-countdown'
import { Button } from '@/shared/ui/button'
import { Chips } from '@/shared/ui/chips'
import { Dialog, Foot } from '@/shared/ui/dialog'
import { Field } from '@/shared/ui/field'
import {
  getTills,
  type Invitation,
  invite,
  inviteAgain,
  revokeTill,
  type StaffRow,
  type TillRow,
} from '@/till/api/shop-calls'
import type { Me } from '@/till/api/types'
import { notify } from '@/till/lib/page/notices'
import { hrefOf, paths } from '@/till/lib/page/router'
import { Qr } from '@/till/ui/qr'
import { ConfirmDialog } from '../confirm-dialog'
import styles from '../kelola.module.css'
import { SaveFoot } from '../save-foot'
import { useSave } from '../use-save'
import { perangkat } from './orang-copy'

/** The chip of a browser that belongs to the outlet. */
const TABLET = 0

interface InviteProps {
  me: Me
  idoutlet: number
  /** Whose own browsers may be paired; null for a supervisor, who pairs the outlet's alone. */
  people: readonly StaffRow[] | null
  /** The largest id before: what is added has a larger one. */
  newest: number
  onLook: () => void
  onClose: () => void
}

/** Makes a pairing code for a new browser. */
export function InviteDialog({ me, idoutlet, people, newest, onLook, onClose }: InviteProps) {
  const [before] = useState(newest)
  const [nama, setNama] = useState('')
  const [of, setOf] = useState(TABLET)
  const [code, setCode] = useState<Invitation | null>(null)
  const name = nama.trim()
  const saving = useSave<Invitation>({
    onDone(invitation) {
      onLook()
      setCode(invitation)
    },
  })

  /** This call has no key: before a repeat the page looks for what was added, whose code nobody has seen. */
  async function request(_key: string, maybeMade: boolean): Promise<Invitation> {
    const made =
      maybeMade &&
      (await getTills()).find(
        (one) =>
          one.id > before &&
          one.nama === name &&
          (of === TABLET ? one.idoutlet === idoutlet : one.idpetugas === of),
      )
    if (made) return inviteAgain(made.id)
    return invite(of === TABLET ? { nama: name, idoutlet } : { nama: name, idpetugas: of })
  }

  const { form, field } = useForm<'nama'>(
    () => (name === '' ? { nama: perangkat.nameMissing } : {}),
    () => saving.save(request),
  )
  if (code) return <Code name={name} code={code} onClose={onClose} />
  const busy = saving.pending || saving.open
  return (
    <Dialog
      open
      onClose={onClose}
      title={perangkat.newTitle}
      locked={saving.pending}
      typed={nama !== '' && !busy}
    >
      <form {...form} className={styles.form}>
        <fieldset className={styles.fields} disabled={busy}>
          <Field
            label={perangkat.name}
            {...field('nama')}
            data-initial
            hint={perangkat.nameHint}
            value={nama}
            maxLength={100}
            autoComplete="off"
            onChange={(event) => setNama(event.target.value)}
          />
          {people && (
            <Chips
              label={perangkat.of}
              options={[
                { value: TABLET, text: perangkat.tablet },
                { value: me.id, text: perangkat.me },
                ...people.map(({ id, nama }) => ({ value: id, text: perangkat.ownedBy(nama) })),
              ]}
              chosen={[of]}
              onChoose={setOf}
            />
          )}
        </fieldset>
        <SaveFoot saving={saving} label={perangkat.save} onAgain={() => saving.again(request)} />
      </form>
    </Dialog>
  )
}

const LENGTH = 8

/** `K7MQ 2XPA` of the code, as it is read aloud. */
const inHalves = (code: string) => `${code.slice(0, LENGTH / 2)} ${code.slice(LENGTH / 2)}`

/** A pairing code, shown once, with the time that it is good for. */
export function PairingCode({ code }: { code: Invitation }) {
  const left_s = useCountdown(Date.parse(code.sampai))
  const page = `${window.location.origin}${hrefOf(paths.pair)}`
  if (left_s !== null && left_s <= 0) return <p className={styles.note}>{perangkat.codeOver}</p>
  return (
    <>
      <div className={styles.codeBox}>
        <p className={styles.secret} translate="no">
          {inHalves(code.kode)}
        </p>
        <p className={styles.second}>
          {left_s === null
            ? perangkat.codeOnce
            : `${perangkat.codeOnce}, ${perangkat.codeLeft(formatLeft(left_s * 1_000))}`}
        </p>
      </div>
      <p className={styles.second}>{perangkat.codeBody}</p>
      <p className={styles.second}>
        {perangkat.page} <strong>{page}</strong>
      </p>
      <Qr text={`${page}#${code.kode}`} label={perangkat.codeQr} className={styles.qr} />
    </>
  )
}

function Code({ name, code, onClose }: { name: string; code: Invitation; onClose: () => void }) {
  return (
    <Dialog open onClose={onClose} title={perangkat.codeTitle(name)}>
      <PairingCode code={code} />
      <Foot>
        <Button onClick={onClose}>{perangkat.done}</Button>
      </Foot>
    </Dialog>
  )
}

interface TillProps {
  till: TillRow
  onLook: () => void
  onClose: () => void
}

/** A browser: another code for it, or its end. */
export function TillDialog({ till: { id, nama, dicabut_at }, onLook, onClose }: TillProps) {
  const [code, setCode] = useState<Invitation | null>(null)
  const [revoking, setRevoking] = useState(false)
  const saving = useSave<Invitation>({
    onDone(invitation) {
      onLook()
      setCode(invitation)
    },
  })
  const request = () => inviteAgain(id)
  if (code) return <Code name={nama} code={code} onClose={onClose} />
  if (revoking) {
    return (
      <ConfirmDialog
        label={perangkat.revoke}
        body={perangkat.revokeBody(nama)}
        send={() => revokeTill(id)}
        onBack={() => setRevoking(false)}
        onDone={() => {
          onLook()
          notify.info(perangkat.revoked(nama))
          onClose()
        }}
      />
    )
  }
  return (
    <Dialog open onClose={onClose} title={nama} locked={saving.pending}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          saving.save(request)
        }}
      >
        <p className={styles.second}>{perangkat.againBody}</p>
        <SaveFoot saving={saving} label={perangkat.again} onAgain={() => saving.again(request)}>
          {!dicabut_at && (
            <Button variant="danger" disabled={saving.pending} onClick={() => setRevoking(true)}>
              {perangkat.revoke}
            </Button>
          )}
        </SaveFoot>
      </form>
    </Dialog>
  )
}
