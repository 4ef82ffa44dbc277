import { X } from 'lucide-react'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { Button } from '@/shared/ui/button'
import { Dialog } from '@/shared/ui/dialog'
import { Empty } from '@/shared/ui/empty'
import { IconButton } from '@/shared/ui/icon-button'
import type { Tile } from '@/till/api/types'
import { useMedia } from '@/till/lib/page/media'
import { boardOf, boardPath, navigate, useSearch } from '@/till/lib/page/router'
import { OpenCalls } from '@/till/ui/open-calls'
import { Rows } from '@/till/ui/rows'
import { AttentionStrip } from './attention-strip'
import { useBoard } from './board-connection'
import type { Board } from './board-state'
import { Grid, machineOf, tileOf } from './grid'
import { MACHINE_SUBJECT, MachinePanel, type Step } from './machine-panel'
import { mesinCopy } from './mesin-copy'
import styles from './mesin-page.module.css'
import { type Chip, concernedOf, isIn } from './states'
import { Toolbar } from './toolbar'
import { useBoardKeys } from './use-board-keys'

interface Opened {
  id: number
  step: Step
}

/** The board with everything that can be done there. */
export function BoardView({ board, rights }: { board: Board; rights: readonly string[] }) {
  const { tiles, attention, outlet } = board
  const live = useBoard((state) => state.live)
  const [chip, setChip] = useState<Chip>('semua')
  const [search, setSearch] = useState('')
  const [opened, setOpened] = useState<Opened | null>(null)
  const [helping, setHelping] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const concerned = useMemo(() => concernedOf(attention), [attention])
  const wanted = search.trim().toLocaleLowerCase('id')
  const isShown = (tile: Tile) =>
    isIn(chip, tile, concerned) && (wanted === '' || tile.nama.toLocaleLowerCase('id').includes(wanted))

  const asked = boardOf(useSearch()).idmesin
  useEffect(() => {
    if (asked !== null) setOpened({ id: asked, step: 'details' })
  }, [asked])
  const open = useCallback((id: number) => setOpened({ id, step: 'details' }), [])
  function close() {
    const tile = opened && tileOf(opened.id)
    setOpened(null)
    if (asked !== null) navigate(boardPath(outlet.idoutlet, null), { replace: true })
    tile?.focus()
  }
  function showAll() {
    setSearch('')
    setChip('semua')
  }
  useBoardKeys({
    onFind: () => field.current?.focus(),
    onChip: setChip,
    onHelp: () => setHelping(true),
    onAsk: () => document.querySelector<HTMLElement>('[data-ask]')?.click(),
    onCloseMachine() {
      const id = machineOf(document.activeElement) ?? opened?.id
      if (id !== undefined) setOpened({ id, step: 'close' })
    },
    onEscape() {
      if (opened) return close()
      showAll()
      field.current?.blur()
    },
  })

  const selected = opened && (tiles.find(({ id }) => id === opened.id) ?? null)
  return (
    <div className={styles.page}>
      <Toolbar
        tiles={tiles}
        concerned={concerned}
        chip={chip}
        onChip={setChip}
        search={search}
        onSearch={setSearch}
        field={field}
        onHelp={() => setHelping(true)}
      />
      {!opened && <OpenCalls about={[MACHINE_SUBJECT]} />}
      <OutletClosed outlet={outlet} />
      <div className={styles.stale} data-stale={!live || undefined}>
        <AttentionStrip entries={attention} onOpen={open} />
        <div className={styles.columns}>
          <div className={styles.grid}>
            {tiles.length === 0 && <Empty title={mesinCopy.noMachines} body={mesinCopy.noMachinesBody} />}
            {tiles.length > 0 && !tiles.some(isShown) && (
              <Empty
                title={mesinCopy.noMatch}
                action={<Button onClick={showAll}>{mesinCopy.showAll}</Button>}
              />
            )}
            <Grid tiles={tiles} isShown={isShown} selected={opened?.id ?? null} onOpen={open} />
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
      <Dialog open={helping} onClose={() => setHelping(false)} title={mesinCopy.helpTitle}>
        <Rows rows={mesinCopy.helpKeys.map(([key, what]) => [key, what])} />
      </Dialog>
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

function OutletClosed({ outlet: { tutup, zona } }: Pick<Board, 'outlet'>) {
  if (!tutup) return null
  return (
    <p className={styles.closed}>
      <strong>{mesinCopy.outletClosed}</strong>{' '}
      <span>{mesinCopy.outletClosedWhy(tutup.alasan, tutup.sampai, zona)}</span>
    </p>
  )
}
