import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useForm } from '@/shared/lib/form/use-form'
import { onlyDigits } from '@/shared/lib/text/digits'
import { rupiah } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import { Dialog } from '@/shared/ui/dialog'
import { Field } from '@/shared/ui/field'
import { keys } from '@/till/api/keys'
import { addPackage, changePackage, getAllPackages, shopKeys } from '@/till/api/shop-calls'
import type { Package } from '@/till/api/types'
import { notify } from '@/till/lib/page/notices'
import styles from '../kelola.module.css'
import { kelola } from '../kelola-copy'
import { useKeptForm } from '../kept-form'
import { SaveFoot } from '../save-foot'
import { useSave } from '../use-save'
import {
  addedBefore,
  changeOf,
  faultsOf,
  formOf,
  newOf,
  type PackageField,
  packageDraft,
} from './package-form'
import { paket } from './paket-copy'

interface Props {
  who: number
  idoutlet: number
  /** Null: a new one. */
  one: Package | null
  /** The largest id of a package. */
  newest: number
  onClose: () => void
}

/** A package: a new one, or a change. */
export function PackageDialog({ who, idoutlet, one, newest, onClose }: Props) {
  const client = useQueryClient()
  const [before] = useState(() => formOf(one, newest))
  const kept = useKeptForm(packageDraft, { who, idoutlet, id: one?.idpaket ?? null }, before)
  const { form, edit } = kept
  const typed = JSON.stringify({ ...form, newest }) !== JSON.stringify({ ...before, newest })

  function close() {
    packageDraft.clear()
    onClose()
  }

  const saving = useSave<string>({
    openKey: kept.openKey,
    onKey: kept.onKey,
    onDone(done) {
      for (const queryKey of [shopKeys.packages, keys.packages]) void client.invalidateQueries({ queryKey })
      notify.info(done)
      close()
    },
  })

  /** Sends the form; returns what was done. */
  async function request(_key: string, maybeMade: boolean): Promise<string> {
    const name = form.nama.trim()
    if (one) {
      await changePackage(one.idpaket, changeOf(form, one))
      return kelola.saved(name)
    }
    const body = newOf(form, idoutlet)
    if (!maybeMade || !addedBefore(await getAllPackages(), body, form.newest)) await addPackage(body)
    return paket.added(name)
  }

  const { form: formProps, field } = useForm<PackageField>(
    () => faultsOf(form),
    () => (typed ? saving.save(request) : close()),
  )
  const busy = saving.pending || saving.open
  const number = (name: 'harga' | 'quota' | 'hari', most: number) => ({
    ...field(name),
    inputMode: 'numeric' as const,
    autoComplete: 'off',
    value: form[name],
    onChange: (event: { target: { value: string } }) =>
      edit({ [name]: onlyDigits(event.target.value).slice(0, most) }),
  })
  const amount = (digits: string) => (digits === '' ? undefined : rupiah(Number(digits)))
  return (
    <Dialog
      open
      onClose={close}
      title={one?.nama ?? paket.newTitle}
      locked={saving.pending}
      typed={typed && !busy}
    >
      <form {...formProps} className={styles.form}>
        <fieldset className={styles.fields} disabled={busy}>
          <Field
            label={paket.name}
            {...field('nama')}
            value={form.nama}
            maxLength={100}
            autoComplete="off"
            onChange={(event) => edit({ nama: event.target.value })}
          />
          <div className={styles.pair}>
            <Field label={paket.price} prefix="Rp" hint={amount(form.harga)} {...number('harga', 9)} />
            <Field label={paket.quota} prefix="Rp" hint={amount(form.quota)} {...number('quota', 9)} />
          </div>
          <Field
            label={paket.days}
            hint={paket.daysHint}
            trailing={<span className={styles.unit}>{paket.dayUnit}</span>}
            {...number('hari', 4)}
          />
        </fieldset>
        {one && <p className={styles.second}>{paket.atOnce}</p>}
        <SaveFoot saving={saving} label={paket.save} onAgain={() => saving.again(request)}>
          {one && !typed && !saving.open && (
            <Button
              variant="danger"
              disabled={saving.pending}
              onClick={() =>
                saving.save(async () => {
                  await changePackage(one.idpaket, { aktif: false })
                  return paket.stoppedNow(one.nama)
                })
              }
            >
              {paket.stop}
            </Button>
          )}
        </SaveFoot>
      </form>
    </Dialog>
  )
}
