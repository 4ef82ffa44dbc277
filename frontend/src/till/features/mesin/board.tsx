import { X } from 'lucide-react'
import { useCallback, useEffect, useEffectEvent, useState } from 'react'
import { Dialog } from '@/shared/ui/dialog'
import { Empty } from '@/shared/ui/empty'
import { IconButton } from '@/shared/ui/icon-button'
import { useMedia } from '@/till/lib/page/media'
import { OpenCalls } from '@/till/ui/open-calls'
import { AttentionStrip } from './attention-strip'
import { useBoard } from './board-connection'
import type { Board } from './board-state'
import { Grid, tileOf } from './grid'
import { Liveness } from './liveness'
import { MACHINE_SUBJECT, MachinePanel, type Step } from './machine-panel'
import { mesinCopy } from './mesin-copy'
import styles from './mesin-page.module.css'

interface Opened {
  id: number
  step: Step
}

/** The board with everything that can be done there. */
export function BoardView({ board, rights }: { board: Board; rights: readonly string[] }) {
  const { tiles, attention, outlet } = board
  const live = useBoard((state) => state.live)
  const [opened, setOpened] = useState<Opened | null>(null)

  const open = useCallback((id: number) => setOpened({ id, step: 'details' }), [])
  function close() {
    const tile = opened && tileOf(opened.id)
    setOpened(null)
    tile?.focus()
  }
  useEscape(() => opened && close())

  const selected = opened && (tiles.find(({ id }) => id === opened.id) ?? null)
  return (
    <div className={styles.page}>
      <Liveness />
      {!opened && <OpenCalls about={[MACHINE_SUBJECT]} />}
      <OutletClosed outlet={outlet} />
      <div className={styles.stale} data-stale={!live || undefined}>
        <AttentionStrip entries={attention} onOpen={open} />
        <div className={styles.columns}>
          <div className={styles.grid}>
            {tiles.length === 0 && <Empty title={mesinCopy.noMachines} body={mesinCopy.noMachinesBody} />}
            <Grid tiles={tiles} isShown={() => true} selected={opened?.id ?? null} onOpen={open} />
          </div>
          {opened && (
            <Panel key={opened.id + opened.step} title={selected?.nama ?? ''} onClose={close}>
              {selected ? (
                <MachinePanel tile={selected} rights={rights} first={opened.step} />
              ) : (
                <p>{mesinCopy.gone}</p>
              )}
            </Panel>
          )}
        </div>
      </div>
    </div>
  )
}

interface PanelProps {
  title: string
  onClose: () => void
  children: React.ReactElement
}

/** Beside the grid where there is room, else a sheet. */
function Panel({ title, onClose, children }: PanelProps) {
  const beside = useMedia('(min-width: 900px)')
  if (!beside) {
    return (
      <Dialog open onClose={onClose} title={title}>
        {children}
      </Dialog>
    )
  }
  return (
    <aside className={styles.panel} aria-label={title}>
      <div className={styles.head}>
        <h2 className={styles.title}>{title}</h2>
        <IconButton label={mesinCopy.panelClose} onClick={onClose}>
          <X size={22} aria-hidden />
        </IconButton>
      </div>
      {children}
    </aside>
  )
}

function OutletClosed({ outlet: { tutup } }: Pick<Board, 'outlet'>) {
  if (!tutup) return null
  return (
    <p className={styles.closed}>
      <strong>{mesinCopy.outletClosed}</strong>{' '}
      <span>{mesinCopy.outletClosedWhy(tutup.alasan, tutup.sampai)}</span>
    </p>
  )
}

/** Escape, while no dialog is open. */
function useEscape(act: () => void): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.key === 'Escape' && !document.querySelector('dialog[open]')) act()
  })
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onKey(event)
    document.addEventListener('keydown', listener)
    return () => document.removeEventListener('keydown', listener)
  }, [])
}
