import { useQueryClient } from '@tanstack/react-query'
import { BellRing } from 'lucide-react'
import { useState } from 'react'
import { Empty } from '@/shared/ui/empty'
import { Failed } from '@/shared/ui/failed'
import { Spinner } from '@/shared/ui/spinner'
import { keys } from '@/till/api/keys'
import type { Attention, Taken } from '@/till/api/types'
import { boardPath, paths } from '@/till/lib/page/router'
import { entryKey, useAttention } from '@/till/lib/session/use-attention'
import { useConnected } from '@/till/lib/session/use-connected'
import { useSells } from '@/till/lib/session/use-device'
import { type May, useMay, useMe } from '@/till/lib/session/use-me'
import { attentionCopy } from '@/till/ui/attention-copy'
import { AttentionEntry } from '@/till/ui/attention-entry'
import { Link } from '@/till/ui/link'
import { ComplaintDialog } from './complaint-dialog'
import { HeldDialog } from './held-dialog'
import { perhatian } from './perhatian-copy'
import styles from './perhatian-page.module.css'

/** A page that is looked at is asked for more often than the number in the navigation. */
const ASK_MS = 10_000

/** Most urgent first. A level of a newer server is shown with the last one. */
const LEVELS = ['merah', 'kuning', 'abu'] as const
type Level = (typeof LEVELS)[number]
const levelOf = ({ tingkat }: Attention): Level => LEVELS.find((one) => one === tingkat) ?? 'abu'

/** Everything that needs a person, at all outlets in sight (docs/board.md). */
export default function AttentionPage() {
  const client = useQueryClient()
  const { data, dataUpdatedAt, error, isError, isFetching, refetch } = useAttention(ASK_MS)
  const connected = useConnected()
  const several = (useMe().data?.outlet.length ?? 0) > 1
  const sells = useSells()
  const may = useMay()
  const [opened, setOpened] = useState<Attention | null>(null)
  if (!data) {
    if (!isError) return <Spinner large />
    return <Failed error={error} pending={isFetching} onRetry={() => void refetch()} />
  }

  function onTaken(entry: Attention, ditangani: Taken) {
    const key = entryKey(entry)
    client.setQueryData<Attention[]>(keys.attention, (known) =>
      known?.map((one) => (entryKey(one) === key ? { ...one, ditangani } : one)),
    )
  }
  const stale = isError || !connected
  return (
    <div className={styles.page} data-stale={stale || undefined}>
      <div className={styles.head}>
        <p role="status" className={styles.count}>
          {data.length === 0 ? '' : attentionCopy.count(data.length)}
        </p>
        {!sells && (
          <Link to={paths.alerts} className={styles.alerts}>
            <BellRing size={18} aria-hidden />
            <span>{perhatian.alerts}</span>
          </Link>
        )}
        <p className={styles.age}>
          <span className={styles.dot} aria-hidden="true" />
          <span role="status">{stale ? perhatian.stale(dataUpdatedAt) : perhatian.asOf(dataUpdatedAt)}</span>
        </p>
      </div>
      {data.length === 0 && <Empty title={attentionCopy.none} body={perhatian.noneBody} />}
      {LEVELS.map((level) => {
        const entries = data.filter((entry) => levelOf(entry) === level)
        if (entries.length === 0) return null
        return (
          <section key={level} aria-labelledby={`tingkat-${level}`}>
            <h2 id={`tingkat-${level}`} className={styles.level}>
              {perhatian.levels[level]}
            </h2>
            <ul className={styles.entries}>
              {entries.map((entry) => (
                <AttentionEntry
                  key={entryKey(entry)}
                  entry={entry}
                  to={screenOf(entry, sells)}
                  onOpen={isOpenedHere(entry, may) ? setOpened : null}
                  withOutlet={several}
                  onTaken={onTaken}
                />
              ))}
            </ul>
          </section>
        )
      })}
      {opened?.jenis === 'keluhan' && <ComplaintDialog entry={opened} onClose={() => setOpened(null)} />}
      {opened?.jenis === 'qris' && <HeldDialog entry={opened} onClose={() => setOpened(null)} />}
    </div>
  )
}

/** What is decided here, by those who may. */
const isOpenedHere = ({ jenis }: Attention, may: May): boolean =>
  (jenis === 'keluhan' && may(['keluhan.jawab']) === true) || jenis === 'qris'

/** The screen that shows more: the machine, the outlet's board, or the till's own shift. */
function screenOf({ jenis, idoutlet, idmesin }: Attention, sells: boolean): string | null {
  if (jenis === 'shift') return sells ? paths.shift : null
  if (jenis === 'cadangan' || jenis === 'qris') return null
  return boardPath(idoutlet, idmesin)
}
