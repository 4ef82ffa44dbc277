import { useQueryClient } from '@tanstack/react-query'
import { Info } from 'lucide-react'
import { useState } from 'react'
import { useForm } from '@/shared/lib/form/use-form'
import { onlyDigits } from '@/shared/lib/text/digits'
import { rupiah, wholeMinutes } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import { Chips } from '@/shared/ui/chips'
import { Dialog } from '@/shared/ui/dialog'
import type { Elements } from '@/shared/ui/elements'
import { Field } from '@/shared/ui/field'
import {
  addService,
  changeService,
  type MachineKind,
  type PriceRule,
  type Service,
  shopKeys,
} from '@/till/api/shop-calls'
import { notify } from '@/till/lib/page/notices'
import styles from './kelola.module.css'
import { kelola } from './kelola-copy'
import { useKeptForm } from './kept-form'
import { layanan } from './layanan-copy'
import { RuleDialog } from './rule-dialog'
import { RulesField } from './rules-field'
import { SaveFoot } from './save-foot'
import {
  changeOf,
  changesDuration,
  faultsOf,
  formOf,
  newOf,
  type ServiceForm,
  saveLabel,
  serviceDraft,
} from './service-form'
import { useSave } from './use-save'

/** The server's sentence for a service that has a successor. */
const REPLACED = 'layanan sudah diganti'

/** The chip of a service that is sold at every machine. */
const ANY = 'semua'

interface Props {
  who: number
  idoutlet: number
  zone: string
  /** Null: a new one. */
  service: Service | null
  onClose: () => void
}

/** A service: a new one, or a change. */
export function ServiceDialog({ who, idoutlet, zone, service, onClose }: Props) {
  const client = useQueryClient()
  const kept = useKeptForm(serviceDraft, { who, idoutlet, id: service?.id ?? null }, formOf(service))
  const { form, edit } = kept
  /** The index of the open price by hour; the next free one is a new one. */
  const [rule, setRule] = useState<number | null>(null)
  const typed = service
    ? changeOf(form, service) !== null
    : JSON.stringify(form) !== JSON.stringify(formOf(null))

  function close() {
    serviceDraft.clear()
    onClose()
  }

  const saving = useSave<string>({
    openKey: kept.openKey,
    onKey: kept.onKey,
    onDone(done) {
      void client.invalidateQueries({ queryKey: shopKeys.services(idoutlet) })
      notify.info(done)
      close()
    },
    onRefused({ status, message }) {
      if (status !== 409 || message !== REPLACED) return false
      // It may be this form's own change, whose answer was lost.
      void client.invalidateQueries({ queryKey: shopKeys.services(idoutlet) })
      notify.info(layanan.replaced)
      close()
      return true
    },
  })

  /** Sends the form; returns what was done. */
  async function request(key: string): Promise<string> {
    const name = form.nama.trim()
    if (!service) {
      await addService(key, newOf(form, idoutlet))
      return layanan.added(name)
    }
    const { lama } = await changeService(service.id, changeOf(form, service) ?? {})
    return lama === null ? kelola.saved(name) : layanan.replacedBy(name)
  }

  const send = () => (typed ? saving.save(request) : close())

  function stop({ id, nama }: Service) {
    saving.save(async () => {
      await changeService(id, { aktif: false })
      return layanan.stoppedNow(nama)
    })
  }

  /** Replaces the open rule, by nothing where it is removed. */
  function putRule(...by: PriceRule[]) {
    if (rule === null) return
    edit({ aturan: [...form.aturan.slice(0, rule), ...by, ...form.aturan.slice(rule + 1)] })
    setRule(null)
  }

  const faults = faultsOf(form)
  const { form: formProps, field } = useForm(() => faults, send)
  const busy = saving.pending || saving.open
  const minutes = (duration_s: number) => layanan.minutes(wholeMinutes(duration_s))
  return (
    <>
      <Dialog
        open
        onClose={close}
        title={service?.nama ?? layanan.newTitle}
        typed={typed && !busy}
        locked={saving.pending}
      >
        <form {...formProps} className={styles.form}>
          <fieldset className={styles.fields} disabled={busy}>
            <Field
              label={layanan.name}
              {...field('nama')}
              value={form.nama}
              maxLength={100}
              autoComplete="off"
              onChange={(event) => edit({ nama: event.target.value })}
            />
            <div className={styles.pair}>
              <Field
                label={layanan.price}
                {...field('harga')}
                prefix="Rp"
                inputMode="numeric"
                autoComplete="off"
                hint={priceHint(form, service)}
                value={form.harga}
                onChange={(event) => edit({ harga: onlyDigits(event.target.value).slice(0, 9) })}
              />
              <Field
                label={layanan.duration}
                {...field('menit')}
                inputMode="numeric"
                autoComplete="off"
                trailing={<span className={styles.unit}>{layanan.minuteUnit}</span>}
                value={form.menit}
                onChange={(event) => edit({ menit: onlyDigits(event.target.value).slice(0, 4) })}
              />
            </div>
            {service && changesDuration(form, service) && faults.menit === undefined && (
              <Note>
                <p>{layanan.replaces(minutes(service.durasi), layanan.minutes(Number(form.menit)))}</p>
              </Note>
            )}
            <RulesField
              rules={form.aturan}
              price={Number(form.harga)}
              zone={zone}
              fault={faults.aturan}
              onEdit={setRule}
            />
            <Chips<MachineKind | typeof ANY>
              label={layanan.kind}
              options={[
                { value: ANY, text: layanan.anyKind },
                ...(['cuci', 'kering', 'lain'] as const).map((one) => ({
                  value: one,
                  text: layanan.kinds[one],
                })),
              ]}
              chosen={[form.jenis ?? ANY]}
              onChoose={(one) => edit({ jenis: one === ANY ? null : one })}
            />
            <Field
              label={layanan.size}
              {...field('ukuran')}
              hint={layanan.sizeHint}
              value={form.ukuran}
              maxLength={20}
              autoComplete="off"
              onChange={(event) => edit({ ukuran: event.target.value })}
            />
            <Field
              label={layanan.pulses}
              {...field('pulsa')}
              hint={layanan.pulsesHint}
              inputMode="numeric"
              autoComplete="off"
              value={form.pulsa}
              onChange={(event) => edit({ pulsa: onlyDigits(event.target.value).slice(0, 2) })}
            />
          </fieldset>
          {service && (
            <Note>
              <p>{layanan.atOnce}</p>
              {service.berjalan > 0 && <p>{layanan.running(service.berjalan)}</p>}
            </Note>
          )}
          <SaveFoot
            saving={saving}
            label={saveLabel(form, service)}
            disabled={faults.aturan !== undefined}
            onAgain={() => saving.again(request)}
          >
            {service && !typed && !saving.open && (
              <Button variant="danger" disabled={saving.pending} onClick={() => stop(service)}>
                {layanan.stop}
              </Button>
            )}
          </SaveFoot>
        </form>
      </Dialog>
      {rule !== null && (
        <RuleDialog
          rule={form.aturan[rule] ?? null}
          onClose={() => setRule(null)}
          onUse={(one) => putRule(one)}
          onRemove={() => putRule()}
        />
      )}
    </>
  )
}

/** The present price; once another one is typed, that in groups of three digits. */
function priceHint({ harga }: ServiceForm, service: Service | null): string | undefined {
  if (service && Number(harga) === service.harga) return layanan.now(rupiah(service.harga_sekarang))
  return harga === '' ? undefined : rupiah(Number(harga))
}

function Note({ children }: { children: Elements }) {
  return (
    <div className={styles.note}>
      <Info size={20} aria-hidden />
      <div>{children}</div>
    </div>
  )
}
