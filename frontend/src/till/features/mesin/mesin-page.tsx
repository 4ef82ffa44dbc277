import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { slot } from '@/shared/lib/session/storage'
import { Empty } from '@/shared/ui/empty'
import { Failed } from '@/shared/ui/failed'
import { Spinner } from '@/shared/ui/spinner'
import { keys } from '@/till/api/keys'
import type { Me } from '@/till/api/types'
import { boardOf, isWall, navigate, paths, useSearch } from '@/till/lib/page/router'
import { ZoneContext } from '@/till/lib/page/zone'
import { useMe } from '@/till/lib/session/use-me'
import { BoardView } from './board'
import { followBoard, useBoard } from './board-connection'
import type { Board } from './board-state'
import { mesinCopy } from './mesin-copy'
import styles from './mesin-page.module.css'
import { Wall } from './wall'

/** The outlet that was watched last in a browser that sees several. */
const lastOutlet = slot<number>(
  'local',
  'nyala.kasir.papan',
  (value): value is number => typeof value === 'number',
)

/** The board of an outlet (docs/board.md). */
export default function MachinesPage() {
  const me = useMe()
  const [chosen, setChosen] = useState(lastOutlet.read)
  const asked = boardOf(useSearch()).idoutlet ?? chosen
  if (me.isPending) return <Spinner large />
  if (!me.data) {
    return <Failed error={me.error} pending={me.isFetching} onRetry={() => void me.refetch()} />
  }
  const { outlet } = me.data
  const here = outlet.find(({ idoutlet }) => idoutlet === asked) ?? outlet[0]
  if (!here) return <Empty title={mesinCopy.noOutlet} />
  const choose = (idoutlet: number) => {
    lastOutlet.write(idoutlet)
    setChosen(idoutlet)
    navigate(paths.machines, { replace: true })
  }
  return (
    <>
      {outlet.length > 1 && <ChooseOutlet outlets={outlet} chosen={here.idoutlet} onChoose={choose} />}
      <OneOutlet key={here.idoutlet} idoutlet={here.idoutlet} rights={me.data.hak} />
    </>
  )
}

function OneOutlet({ idoutlet, rights }: { idoutlet: number; rights: readonly string[] }) {
  const { board, refusal } = useBoard()
  const wall = isWall(useSearch())
  useEffect(() => followBoard(idoutlet), [idoutlet])
  useFreshBadge(board?.attention)
  if (!board || board.outlet.idoutlet !== idoutlet) {
    return refusal === null ? <Spinner large /> : <Empty title={mesinCopy.notGiven} body={refusal} />
  }
  return (
    <ZoneContext value={board.outlet.zona}>
      {wall ? <Wall board={board} /> : <BoardView board={board} rights={rights} />}
    </ZoneContext>
  )
}

/** The number in the navigation follows the board's strip. */
function useFreshBadge(attention: Board['attention'] | undefined): void {
  const client = useQueryClient()
  useEffect(() => {
    if (attention) void client.invalidateQueries({ queryKey: keys.attention })
  }, [client, attention])
}

interface ChooseProps {
  outlets: Me['outlet']
  chosen: number
  onChoose: (idoutlet: number) => void
}

function ChooseOutlet({ outlets, chosen, onChoose }: ChooseProps) {
  return (
    <label className={styles.outlet}>
      <span>{mesinCopy.outlet}</span>
      <select value={chosen} onChange={(event) => onChoose(Number(event.target.value))}>
        {outlets.map(({ idoutlet, nama, kota }) => (
          <option key={idoutlet} value={idoutlet}>{`${nama}, ${kota}`}</option>
        ))}
      </select>
    </label>
  )
}
