import { Empty } from '@/shared/ui/empty'
import { useBoard } from './board-connection'
import type { Board } from './board-state'
import { Grid } from './grid'
import { Liveness } from './liveness'
import { mesinCopy } from './mesin-copy'
import styles from './mesin-page.module.css'

/** The board of an outlet, and how current it is. */
export function BoardView({ board }: { board: Board }) {
  const { tiles, outlet } = board
  const live = useBoard((state) => state.live)
  return (
    <div className={styles.page}>
      <Liveness />
      <OutletClosed outlet={outlet} />
      <div className={styles.stale} data-stale={!live || undefined}>
        {tiles.length === 0 && <Empty title={mesinCopy.noMachines} body={mesinCopy.noMachinesBody} />}
        <Grid tiles={tiles} isShown={() => true} selected={null} onOpen={null} />
      </div>
    </div>
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
