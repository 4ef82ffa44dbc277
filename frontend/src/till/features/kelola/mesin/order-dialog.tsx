import { useQueryClient } from '@tanstack/react-query'
import { GripVertical } from 'lucide-react'
import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react'
import { Dialog } from '@/shared/ui/dialog'
import { orderMachines, shopKeys } from '@/till/api/shop-calls'
import type { Tile } from '@/till/api/types'
import { notify } from '@/till/lib/page/notices'
import styles from '../kelola.module.css'
import { layanan } from '../layanan-copy'
import { SaveFoot } from '../save-foot'
import { useSave } from '../use-save'
import { mesin } from './mesin-copy'

interface Props {
  idoutlet: number
  machines: readonly Tile[]
  onClose: () => void
}

/** The server's sentence for an order of other machines than the outlet has. */
const NOT_ALL = 'urutan harus memuat semua mesin'

/** The order in which the machines stand in the shop: by dragging a handle, or by its arrow keys. */
export function OrderDialog({ idoutlet, machines, onClose }: Props) {
  const client = useQueryClient()
  const [order, setOrder] = useState<readonly number[]>(() => machines.map(({ id }) => id))
  const [said, setSaid] = useState('')
  const list = useRef<HTMLOListElement>(null)
  const ids = withNew(order, machines)
  const look = () => client.invalidateQueries({ queryKey: shopKeys.machines(idoutlet) })
  const saving = useSave<null>({
    onDone() {
      void look()
      notify.info(mesin.ordered)
      onClose()
    },
    onRefused({ status, message }) {
      if (status !== 422 || message !== NOT_ALL) return false
      void look()
      notify.failure(mesin.orderChanged)
      return true
    },
  })
  const request = () => orderMachines(idoutlet, ids)
  const busy = saving.pending || saving.open
  const nameOf = (id: number) => machines.find((one) => one.id === id)?.nama ?? ''

  function move(id: number, to: number) {
    const from = ids.indexOf(id)
    if (busy || to === from || to < 0 || to >= ids.length) return
    const rest = ids.filter((one) => one !== id)
    setOrder([...rest.slice(0, to), id, ...rest.slice(to)])
    setSaid(mesin.moved(nameOf(id), to + 1, ids.length))
  }

  function onKeyDown(event: KeyboardEvent, id: number) {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    move(id, ids.indexOf(id) + step)
  }

  /** The dragged row takes the place of the row below the pointer. */
  function onPointerMove(event: PointerEvent<HTMLElement>, id: number) {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return
    const rows = [...(list.current?.children ?? [])].map((row) => row.getBoundingClientRect())
    const below = rows.findIndex(({ bottom }) => event.clientY < bottom)
    move(id, below === -1 ? rows.length - 1 : below)
    event.currentTarget.scrollIntoView({ block: 'nearest' })
  }

  return (
    <Dialog
      open
      onClose={onClose}
      title={mesin.orderTitle}
      locked={saving.pending}
      typed={!busy && ids.some((id, i) => id !== machines[i]?.id)}
    >
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          saving.save(request)
        }}
      >
        <p className={styles.second}>{mesin.orderHow}</p>
        <ol ref={list}>
          {ids.map((id, i) => {
            const machine = machines.find((one) => one.id === id)
            if (!machine) return null
            return (
              <li key={id} className={styles.rule}>
                <button
                  type="button"
                  className={styles.grip}
                  aria-label={mesin.move(machine.nama, i + 1, ids.length)}
                  onKeyDown={(event) => onKeyDown(event, id)}
                  onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
                  onPointerMove={(event) => onPointerMove(event, id)}
                >
                  <GripVertical size={20} aria-hidden />
                </button>
                <span className={styles.ruleText}>{machine.nama}</span>
                <span className={styles.second}>{layanan.kinds[machine.jenis]}</span>
              </li>
            )
          })}
        </ol>
        <p role="status" className="visually-hidden">
          {said}
        </p>
        <SaveFoot saving={saving} label={mesin.saveOrder} onAgain={() => saving.again(request)} />
      </form>
    </Dialog>
  )
}

/** The chosen order, without machines that are gone and with new ones at its end. */
function withNew(order: readonly number[], machines: readonly Tile[]): number[] {
  const here = machines.map(({ id }) => id)
  return [...order.filter((id) => here.includes(id)), ...here.filter((id) => !order.includes(id))]
}
