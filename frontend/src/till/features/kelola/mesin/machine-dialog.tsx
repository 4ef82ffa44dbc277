import { useQuery, useQueryClient } from '@tanstack/react-query'
import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import { useForm } from '@/shared/lib/form/use-form'
import { onlyDigits } from '@/shared/lib/text/digits'
import { Button } from '@/shared/ui/button'
import { Chips } from '@/shared/ui/chips'
import { Dialog } from '@/shared/ui/dialog'
import { Field } from '@/shared/ui/field'
import { Spinner } from '@/shared/ui/spinner'
import { type Details, machineDetails } from '@/till/api/board-calls'
import {
  addMachine,
  addMachines,
  changeMachine,
  type DeviceLogin,
  makeDeviceKey,
  shopKeys,
} from '@/till/api/shop-calls'
import type { Me, Tile } from '@/till/api/types'
import { notify } from '@/till/lib/page/notices'
import { ConfirmDialog } from '../confirm-dialog'
import styles from '../kelola.module.css'
import { kelola } from '../kelola-copy'
import { useKeptForm } from '../kept-form'
import { layanan } from '../layanan-copy'
import { SaveFoot } from '../save-foot'
import { useSave } from '../use-save'
import { DeviceKeyDialog } from './device-key-dialog'
import {
  changeOf,
  faultsOf,
  formOf,
  isMany,
  kindOf,
  MAX_NAME,
  MAX_PREFIX,
  type MachineField,
  type MachineForm,
  machineDraft,
  manyOf,
  namesOf,
  newOf,
  type PulseField,
} from './machine-form'
import { mesin } from './mesin-copy'

const KINDS = ['cuci', 'kering', 'lain'] as const
const STARTS = ['relai', 'pulsa'] as const

interface Props {
  me: Me
  idoutlet: number
  /** Null: new ones. */
  machine: Tile | null
  onClose: () => void
}

/** One machine or several new ones, or a change. */
export function MachineDialog(props: Props) {
  const { machine, onClose } = props
  const details = useQuery({
    ...machineDetails(machine?.id ?? 0),
    enabled: machine !== null,
    staleTime: 0,
  })
  if (machine && details.isPending) {
    return (
      <Dialog open onClose={onClose} title={machine.nama}>
        <Spinner large />
      </Dialog>
    )
  }
  return (
    <Form
      {...props}
      details={details.data}
      hasDevice={details.data ? details.data.perangkat !== null : true}
    />
  )
}

interface FormProps extends Props {
  /** Undefined where they could not be read. */
  details: Details | undefined
  /** A simulated machine has none. */
  hasDevice: boolean
}

function Form({ me, idoutlet, machine, details, hasDevice, onClose }: FormProps) {
  const client = useQueryClient()
  const [before] = useState(() => formOf(machine, details))
  const kept = useKeptForm(machineDraft, { who: me.id, idoutlet, id: machine?.id ?? null }, before)
  const { form, edit } = kept
  const [retiring, setRetiring] = useState(false)
  const [login, setLogin] = useState<DeviceLogin | null>(null)
  const change = changeOf(form, before)
  const typed = machine
    ? Object.keys(change).length > 0
    : JSON.stringify(form) !== JSON.stringify(formOf(null))

  function close() {
    machineDraft.clear()
    onClose()
  }

  function look() {
    void client.invalidateQueries({ queryKey: shopKeys.machines(idoutlet) })
    // The form begins with them, the next time too.
    if (machine) client.removeQueries({ queryKey: machineDetails(machine.id).queryKey })
  }

  const saving = useSave<string | DeviceLogin>({
    openKey: kept.openKey,
    onKey: kept.onKey,
    onDone(done) {
      if (typeof done !== 'string') return setLogin(done)
      look()
      notify.info(done)
      close()
    },
  })

  /** Sends the form; returns what was done. */
  async function request(key: string): Promise<string> {
    const name = form.nama.trim()
    if (machine) {
      await changeMachine(machine.id, change)
      return kelola.saved(name)
    }
    if (!isMany(form)) {
      await addMachine(key, newOf(form, idoutlet))
      return mesin.added(name)
    }
    const { mesin: made } = await addMachines(key, manyOf(form, idoutlet))
    return mesin.addedMany(made.length)
  }

  const { form: formProps, field } = useForm<MachineField>(
    () => faultsOf(form),
    () => (typed ? saving.save(request) : close()),
  )
  if (machine && login) return <DeviceKeyDialog login={login} name={machine.nama} onClose={close} />
  if (machine && retiring) {
    return (
      <ConfirmDialog
        label={mesin.retire}
        body={mesin.retireWhat(machine.nama)}
        send={() => changeMachine(machine.id, { aktif: false })}
        onBack={() => setRetiring(false)}
        onDone={() => {
          look()
          notify.info(mesin.retired(machine.nama))
          close()
        }}
      />
    )
  }
  const busy = saving.pending || saving.open
  const may = (right: string) => me.hak.includes(right)
  return (
    <Dialog
      open
      onClose={close}
      title={machine?.nama ?? mesin.newTitle}
      locked={saving.pending}
      typed={typed && !busy}
    >
      <form {...formProps} className={styles.form}>
        <fieldset className={styles.fields} disabled={busy}>
          <Fields
            form={form}
            isNew={machine === null}
            serviceHint={machine && (details ? mesin.serviceHint : mesin.serviceUnknown)}
            // Several new ones are started by relays; their ways of starting change one by one.
            startsBy={machine ? details !== undefined : !isMany(form)}
            field={field}
            onEdit={edit}
          />
        </fieldset>
        <SaveFoot
          saving={saving}
          label={machine ? mesin.save : isMany(form) ? mesin.addMany(Number(form.jumlah)) : mesin.addOne}
          onAgain={() => saving.again(request)}
        >
          {machine && !typed && !saving.open && (
            <>
              {hasDevice && may('mesin.perangkat') && (
                <Button
                  variant="secondary"
                  icon={<KeyRound size={18} aria-hidden />}
                  disabled={saving.pending}
                  onClick={() => saving.save(() => makeDeviceKey(machine.id))}
                >
                  {mesin.key}
                </Button>
              )}
              <Button variant="danger" disabled={saving.pending} onClick={() => setRetiring(true)}>
                {mesin.retire}
              </Button>
            </>
          )}
        </SaveFoot>
      </form>
    </Dialog>
  )
}

interface FieldsProps {
  form: MachineForm
  isNew: boolean
  /** Null: not asked for. */
  serviceHint: string | null
  /** What starts it is asked for. */
  startsBy: boolean
  field: ReturnType<typeof useForm<MachineField>>['field']
  onEdit: (part: Partial<MachineForm>) => void
}

function Fields({ form, isNew, serviceHint, startsBy, field, onEdit }: FieldsProps) {
  const many = isNew && isMany(form)
  const names = namesOf(form)
  const digits = (name: 'jumlah' | 'mulai' | 'angka' | 'servis' | PulseField, most: number) => ({
    ...field(name),
    inputMode: 'numeric' as const,
    autoComplete: 'off',
    value: form[name],
    onChange: (event: { target: { value: string } }) =>
      onEdit({ [name]: onlyDigits(event.target.value).slice(0, most) }),
  })
  return (
    <>
      {isNew && <Field label={mesin.count} {...digits('jumlah', 3)} />}
      <Field
        label={many ? mesin.prefix : mesin.name}
        {...field('nama')}
        data-initial={isNew || undefined}
        value={form.nama}
        maxLength={many ? MAX_PREFIX : MAX_NAME}
        autoComplete="off"
        onChange={(event) => onEdit({ nama: event.target.value })}
      />
      {many && (
        <div className={styles.pair}>
          <Field label={mesin.first} {...digits('mulai', 6)} />
          <Field label={mesin.digits} hint={mesin.digitsHint} {...digits('angka', 1)} />
        </div>
      )}
      {many && names && (
        <p role="status" className={styles.second}>
          {mesin.names(...names)}
        </p>
      )}
      <Chips
        label={mesin.kind}
        options={KINDS.map((one) => ({ value: one, text: layanan.kinds[one] }))}
        chosen={[kindOf(form)]}
        onChoose={(jenis) => onEdit({ jenis })}
      />
      <Field
        label={mesin.size}
        {...field('ukuran')}
        hint={mesin.sizeHint}
        value={form.ukuran}
        maxLength={20}
        autoComplete="off"
        onChange={(event) => onEdit({ ukuran: event.target.value })}
      />
      {serviceHint && (
        <Field
          label={mesin.service}
          hint={serviceHint}
          trailing={<span className={styles.unit}>{mesin.serviceUnit}</span>}
          {...digits('servis', 6)}
        />
      )}
      {startsBy && (
        <Chips
          label={mesin.startBy}
          options={STARTS.map((one) => ({ value: one, text: mesin.starts[one] }))}
          chosen={[form.cara]}
          onChoose={(cara) => onEdit({ cara })}
        />
      )}
      {startsBy && form.cara === 'pulsa' && (
        <>
          <Field label={mesin.pulses} hint={mesin.pulsesHint} {...digits('pulsa', 2)} />
          <div className={styles.pair}>
            <Field
              label={mesin.width}
              trailing={<span className={styles.unit}>ms</span>}
              {...digits('lebar', 4)}
            />
            <Field
              label={mesin.gap}
              trailing={<span className={styles.unit}>ms</span>}
              {...digits('jeda', 4)}
            />
          </div>
          <Field
            label={mesin.coin}
            hint={mesin.coinHint}
            trailing={<span className={styles.unit}>rupiah</span>}
            {...digits('koin', 8)}
          />
        </>
      )}
    </>
  )
}
