import { CircleQuestionMark, Monitor, Search } from 'lucide-react'
import type { RefObject } from 'react'
import { IconButton } from '@/shared/ui/icon-button'
import type { Tile } from '@/till/api/types'
import { paths, WALL } from '@/till/lib/page/router'
import { Link } from '@/till/ui/link'
import { Liveness } from './liveness'
import { mesinCopy } from './mesin-copy'
import { CHIP_NAMES, CHIPS, type Chip, isIn } from './states'
import styles from './toolbar.module.css'

interface Props {
  tiles: readonly Tile[]
  concerned: ReadonlySet<number>
  chip: Chip
  onChip: (chip: Chip) => void
  search: string
  onSearch: (search: string) => void
  field: RefObject<HTMLInputElement | null>
  onHelp: () => void
}

/** The chips with their counts, the search, and how current the picture is. */
export function Toolbar({ tiles, concerned, chip, onChip, search, onSearch, field, onHelp }: Props) {
  return (
    <div className={styles.toolbar}>
      <fieldset className={styles.chips} aria-label={mesinCopy.filter}>
        {CHIPS.map((one) => (
          <button
            key={one}
            type="button"
            className={styles.chip}
            data-chip={one}
            aria-pressed={one === chip}
            onClick={() => onChip(one)}
          >
            <span>{CHIP_NAMES[one]}</span>
            <span className={`digits ${styles.count}`}>
              {tiles.filter((tile) => isIn(one, tile, concerned)).length}
            </span>
          </button>
        ))}
      </fieldset>
      <label className={styles.find}>
        <Search size={18} aria-hidden />
        <span className="visually-hidden">{mesinCopy.find}</span>
        <input
          ref={field}
          className={styles.field}
          type="search"
          value={search}
          placeholder={mesinCopy.find}
          autoComplete="off"
          onChange={(event) => onSearch(event.target.value)}
        />
      </label>
      <Liveness />
      <Link to={paths.machines + WALL} className={styles.wall} aria-label={mesinCopy.wall}>
        <Monitor size={20} aria-hidden />
      </Link>
      <IconButton label={mesinCopy.help} className={styles.help} onClick={onHelp}>
        <CircleQuestionMark size={20} aria-hidden />
      </IconButton>
    </div>
  )
}
