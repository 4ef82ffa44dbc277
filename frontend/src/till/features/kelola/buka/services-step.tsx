import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useForm } from '@/shared/lib/form/use-form'
import { onlyDigits } from '@/shared/lib/text/digits'
import { rupiah, wholeMinutes } from '@/shared/lib/text/format'
import { Field } from '@/shared/ui/field'
import { addService, getServices, type Service, shopKeys } from '@/till/api/shop-calls'
import shared from '../kelola.module.css'
import { Loaded } from '../loaded'
import { useSave } from '../use-save'
import styles from './buka.module.css'
import { buka } from './buka-copy'
import { firstChoices, isPrice, newServices, nightPrice, PROPOSALS, unsold } from './proposals'
import { StepFrame } from './step-frame'

interface Props {
  idoutlet: number
  onBack: () => void
  onDone: () => void
}

/** What the shop sells: usual services with usual prices, which are added together. */
export function ServicesStep(props: Props) {
  const services = useQuery({
    queryKey: shopKeys.services(props.idoutlet),
    queryFn: ({ signal }) => getServices(props.idoutlet, signal),
  })
  return <Loaded query={services}>{(data) => <Form {...props} services={data} />}</Loaded>
}

function Form({ idoutlet, services, onBack, onDone }: Props & { services: readonly Service[] }) {
  const client = useQueryClient()
  const sold = services.filter(({ aktif }) => aktif)
  const [choices, setChoices] = useState(() => firstChoices(sold.length > 0))
  const [night, setNight] = useState(sold.length === 0)
  const places = unsold(services)
  const chosen = places.filter((i) => choices[i]?.chosen)
  const saving = useSave<null>({
    async onDone() {
      // The next step begins with what is sold.
      await client.invalidateQueries({ queryKey: shopKeys.services(idoutlet) })
      onDone()
    },
  })

  /** Each service has its part of the key. A repeat leaves out what was added, also after a reload. */
  async function request(key: string): Promise<null> {
    const left = unsold(await getServices(idoutlet))
    for (const one of newServices(idoutlet, choices, night, left)) {
      const place = PROPOSALS.findIndex(({ nama }) => nama === one.nama)
      await addService(`${key}-${place}`, one)
    }
    return null
  }

  const faults = {
    ...Object.fromEntries(
      chosen.flatMap((i) => (isPrice(choices[i]?.price ?? '') ? [] : [[`harga-${i}`, buka.priceWrong]])),
    ),
    ...(sold.length === 0 && chosen.length === 0 && { satu: buka.serviceMissing }),
  }
  const { form, field } = useForm<string>(
    () => faults,
    () => (chosen.length === 0 ? onDone() : saving.save(request)),
  )
  const edit = (i: number, part: object) =>
    setChoices(choices.map((one, at) => (at === i ? { ...one, ...part } : one)))
  const { fault } = field('satu')
  return (
    <StepFrame
      saving={saving}
      label={buka.next[1]}
      form={form}
      onBack={onBack}
      onAgain={() => saving.again(request)}
    >
      {sold.length > 0 && (
        <section className={shared.panel} aria-label={buka.there}>
          <h2 className={shared.panelTitle}>{buka.there}</h2>
          <ul>
            {sold.map(({ id, nama, durasi, ukuran, harga }) => (
              <li key={id} className={shared.rule}>
                <span className={shared.ruleText}>
                  <strong>{nama}</strong>
                  <span className={shared.second}>{buka.details(wholeMinutes(durasi), ukuran)}</span>
                </span>
                <strong className="digits">{rupiah(harga)}</strong>
              </li>
            ))}
          </ul>
        </section>
      )}
      {places.length > 0 && (
        <section className={shared.panel} aria-label={buka.examples}>
          <h2 className={shared.panelTitle}>{buka.examples}</h2>
          <ul>
            {places.map((i) => {
              const [proposal, choice] = [PROPOSALS[i], choices[i]]
              if (!proposal || !choice) return null
              return (
                <li key={proposal.nama} className={styles.proposal}>
                  <label className={shared.check}>
                    <input
                      type="checkbox"
                      checked={choice.chosen}
                      onChange={(event) => edit(i, { chosen: event.target.checked })}
                    />
                    <span className={shared.ruleText}>
                      <strong>{proposal.nama}</strong>
                      <span className={shared.second}>{buka.details(proposal.minutes, proposal.ukuran)}</span>
                    </span>
                  </label>
                  <div className={styles.price}>
                    <Field
                      label={buka.priceOf(proposal.nama)}
                      {...field(`harga-${i}`)}
                      prefix="Rp"
                      inputMode="numeric"
                      autoComplete="off"
                      disabled={!choice.chosen}
                      value={choice.price}
                      onChange={(event) => edit(i, { price: onlyDigits(event.target.value).slice(0, 9) })}
                    />
                  </div>
                </li>
              )
            })}
          </ul>
          {fault && (
            <p role="alert" className={shared.fault}>
              {fault}
            </p>
          )}
        </section>
      )}
      {chosen.length > 0 && (
        <section className={shared.panel} aria-label={buka.night}>
          <label className={shared.check}>
            <input type="checkbox" checked={night} onChange={(event) => setNight(event.target.checked)} />
            <span className={shared.ruleText}>
              <strong>{buka.night}</strong>
              <span className={shared.second}>{buka.nightBody}</span>
            </span>
          </label>
          {night && (
            <p className={shared.tags}>
              {chosen.map((i) => (
                <span key={i} className={shared.tag}>
                  {`${PROPOSALS[i]?.nama} ${rupiah(nightPrice(Number(choices[i]?.price)))}`}
                </span>
              ))}
            </p>
          )}
        </section>
      )}
    </StepFrame>
  )
}
