import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Minus, Plus } from 'lucide-react'
import { useState } from 'react'
import { useForm } from '@/shared/lib/form/use-form'
import { Field } from '@/shared/ui/field'
import { IconButton } from '@/shared/ui/icon-button'
import { addMachines, getMachines, getServices, type Service, shopKeys } from '@/till/api/shop-calls'
import type { Me, Tile } from '@/till/api/types'
import shared from '../kelola.module.css'
import { Loaded } from '../loaded'
import { MachineDialog } from '../mesin/machine-dialog'
import { MAX_PREFIX } from '../mesin/machine-form'
import { useSave } from '../use-save'
import styles from './buka.module.css'
import { buka } from './buka-copy'
import { countOf, kindTitle, MAX_OF_KIND, missing, namesOf, planOf } from './machine-plan'
import { StepFrame } from './step-frame'

interface Props {
  me: Me
  idoutlet: number
  onBack: () => void
  onDone: () => void
}

/** How many machines of each kind; the board that they make is shown beside. */
export function MachinesStep(props: Props) {
  const { idoutlet } = props
  const services = useQuery({
    queryKey: shopKeys.services(idoutlet),
    queryFn: ({ signal }) => getServices(idoutlet, signal),
  })
  const machines = useQuery({
    queryKey: shopKeys.machines(idoutlet),
    queryFn: ({ signal }) => getMachines(idoutlet, signal),
  })
  return (
    <Loaded query={services}>
      {(sold) => (
        <Loaded query={machines}>{(there) => <Form {...props} services={sold} machines={there} />}</Loaded>
      )}
    </Loaded>
  )
}

interface FormProps extends Props {
  services: readonly Service[]
  machines: readonly Tile[]
}

function Form({ me, idoutlet, services, machines, onBack, onDone }: FormProps) {
  const client = useQueryClient()
  const [plan, setPlan] = useState(() => planOf(services, machines))
  const [open, setOpen] = useState<number | null>(null)
  const batches = missing(plan, machines)
  const total = machines.length + batches.reduce((sum, { jumlah }) => sum + jumlah, 0)
  const saving = useSave<null>({
    async onDone() {
      await client.invalidateQueries({ queryKey: shopKeys.machines(idoutlet) })
      onDone()
    },
  })

  /** Adds what is missing now, so that a repeat adds nothing twice. Each batch has its part of the key besides. */
  async function request(key: string): Promise<null> {
    for (const batch of missing(plan, await getMachines(idoutlet))) {
      const part = `${batch.jenis}${(batch.ukuran ?? '').replace(/\W/g, '')}`
      await addMachines(`${key}-${part}`, { ...batch, idoutlet, driver: 'mqtt' })
    }
    return null
  }

  const faults = {
    ...Object.fromEntries(
      plan.flatMap(({ awalan, jumlah }, i) =>
        jumlah > 0 && awalan.trim() === '' ? [[`awalan-${i}`, buka.prefixMissing]] : [],
      ),
    ),
    ...(total === 0 && { satu: buka.machineMissing }),
  }
  const { form, field } = useForm<string>(
    () => faults,
    () => (batches.length === 0 ? onDone() : saving.save(request)),
  )
  const edit = (i: number, part: object) =>
    setPlan(plan.map((one, at) => (at === i ? { ...one, ...part } : one)))
  const { fault } = field('satu')
  const renamed = machines.find(({ id }) => id === open)
  return (
    <>
      <StepFrame
        saving={saving}
        label={buka.next[2]}
        note={buka.machines(total)}
        form={form}
        onBack={onBack}
        onAgain={() => saving.again(request)}
      >
        <div className={styles.columns}>
          <div className={shared.form}>
            {plan.map((kind, i) => {
              const title = kindTitle(kind)
              const least = countOf(machines, kind)
              return (
                <section key={title} className={shared.panel} aria-label={title}>
                  <div className={styles.stepper}>
                    <strong className={shared.ruleText}>{title}</strong>
                    <IconButton
                      label={buka.fewer(title)}
                      disabled={kind.jumlah <= least}
                      onClick={() => edit(i, { jumlah: kind.jumlah - 1 })}
                    >
                      <Minus size={20} aria-hidden />
                    </IconButton>
                    <output className={styles.count} aria-label={buka.countOf(title)}>
                      {kind.jumlah}
                    </output>
                    <IconButton
                      label={buka.more(title)}
                      disabled={kind.jumlah >= MAX_OF_KIND}
                      onClick={() => edit(i, { jumlah: kind.jumlah + 1 })}
                    >
                      <Plus size={20} aria-hidden />
                    </IconButton>
                  </div>
                  <Field
                    label={buka.prefixOf(title)}
                    {...field(`awalan-${i}`)}
                    value={kind.awalan}
                    maxLength={MAX_PREFIX}
                    autoComplete="off"
                    onChange={(event) => edit(i, { awalan: event.target.value })}
                  />
                </section>
              )
            })}
            {fault && (
              <p
                role="alert"
                className={shared.fault}
                ref={(node) => node?.scrollIntoView({ block: 'center' })}
              >
                {fault}
              </p>
            )}
          </div>
          <section className={shared.panel} aria-label={buka.board}>
            <h2 className={shared.panelTitle}>{buka.board}</h2>
            <p className={shared.second}>{buka.boardBody}</p>
            <ul className={styles.board}>
              {machines.map(({ id, nama }) => (
                <li key={id}>
                  <button type="button" className={styles.machine} onClick={() => setOpen(id)}>
                    {nama}
                  </button>
                </li>
              ))}
              {batches.flatMap(namesOf).map((name) => (
                <li key={name} className={styles.machine} data-new>
                  <span>{name}</span>
                </li>
              ))}
            </ul>
          </section>
        </div>
      </StepFrame>
      {renamed && (
        <MachineDialog
          key={open}
          me={me}
          idoutlet={idoutlet}
          machine={renamed}
          onClose={() => setOpen(null)}
        />
      )}
    </>
  )
}
