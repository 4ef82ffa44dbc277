import { useQuery } from '@tanstack/react-query'
import { ArrowDownUp, Plus } from 'lucide-react'
import { useState } from 'react'
import { Button } from '@/shared/ui/button'
import { Empty } from '@/shared/ui/empty'
import { getMachines, shopKeys } from '@/till/api/shop-calls'
import type { Me, Tile } from '@/till/api/types'
import { lookOf, stateName } from '@/till/lib/machine/state-name'
import styles from '../kelola.module.css'
import { layanan } from '../layanan-copy'
import { Loaded } from '../loaded'
import { MachineDialog } from './machine-dialog'
import { machineDraft } from './machine-form'
import { mesin } from './mesin-copy'
import { OrderDialog } from './order-dialog'

/** Machines change their state by themselves. */
const LOOK_AGAIN_MS = 15_000
const KINDS = ['cuci', 'kering', 'lain'] as const

/** The outlet's machines by kind, in their order. */
export function MachinesView({ me, idoutlet }: { me: Me; idoutlet: number }) {
  const machines = useQuery({
    queryKey: shopKeys.machines(idoutlet),
    queryFn: ({ signal }) => getMachines(idoutlet, signal),
    refetchInterval: LOOK_AGAIN_MS,
  })
  // A form that a lock or a reload interrupted is open again.
  const [open, setOpen] = useState<number | null | undefined>(() => machineDraft.read(me.id, idoutlet)?.id)
  const [ordering, setOrdering] = useState(false)
  const may = (right: string) => me.hak.includes(right)
  return (
    <Loaded query={machines}>
      {(data) => {
        const machine = open == null ? null : data.find(({ id }) => id === open)
        return (
          <>
            <div className={styles.tools}>
              {may('mesin.buat') && (
                <Button
                  variant="secondary"
                  icon={<Plus size={20} aria-hidden />}
                  onClick={() => setOpen(null)}
                >
                  {mesin.add}
                </Button>
              )}
              {may('outlet.urut') && data.length > 1 && (
                <Button
                  variant="secondary"
                  icon={<ArrowDownUp size={20} aria-hidden />}
                  onClick={() => setOrdering(true)}
                >
                  {mesin.order}
                </Button>
              )}
            </div>
            {data.length === 0 && <Empty title={mesin.none} body={mesin.noneBody} />}
            {KINDS.map((kind) => (
              <Group
                key={kind}
                title={layanan.kinds[kind]}
                machines={data.filter(({ jenis }) => jenis === kind)}
                onOpen={may('mesin.ubah') ? setOpen : undefined}
              />
            ))}
            {open !== undefined && machine !== undefined && (
              <MachineDialog
                key={open}
                me={me}
                idoutlet={idoutlet}
                machine={machine}
                onClose={() => setOpen(undefined)}
              />
            )}
            {ordering && (
              <OrderDialog idoutlet={idoutlet} machines={data} onClose={() => setOrdering(false)} />
            )}
          </>
        )
      }}
    </Loaded>
  )
}

interface GroupProps {
  title: string
  machines: Tile[]
  onOpen: ((id: number) => void) | undefined
}

function Group({ title, machines, onOpen }: GroupProps) {
  if (machines.length === 0) return null
  return (
    <section aria-label={title}>
      <h2 className={styles.group}>{title}</h2>
      <ul className={styles.cards}>
        {machines.map((one) => (
          <li key={one.id}>
            {onOpen ? (
              <button type="button" className={styles.card} onClick={() => onOpen(one.id)}>
                <Card machine={one} />
              </button>
            ) : (
              <div className={styles.card}>
                <Card machine={one} />
              </div>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

function Card({ machine: { nama, ukuran, keadaan, ditutup } }: { machine: Tile }) {
  return (
    <span className={styles.cardHead}>
      <span className={styles.cardName}>
        <strong>{nama}</strong>
        {ukuran && <span className={styles.second}>{ukuran}</span>}
      </span>
      <span className={styles.state} data-state={lookOf(keadaan) ?? 'unknown'}>
        {ditutup ? `${stateName(keadaan)}, ${ditutup.alasan}` : stateName(keadaan)}
      </span>
    </span>
  )
}
