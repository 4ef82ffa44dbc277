import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '@/shared/ui/button'
import { keys } from '@/till/api/keys'
import type { Attention, Taken } from '@/till/api/types'
import { TECHNICIAN } from '@/till/lib/session/role-name'
import { useSession } from '@/till/lib/session/session'
import { entryKey } from '@/till/lib/session/use-attention'
import { attentionCopy } from '@/till/ui/attention-copy'
import { AttentionEntry } from '@/till/ui/attention-entry'
import styles from './attention-strip.module.css'
import { showTaken } from './board-connection'
import { mesinCopy } from './mesin-copy'

/** Entries that are shown at once: the grid below stays in sight. */
const FIRST = 6

interface Props {
  entries: readonly Attention[]
  onOpen: (id: number) => void
}

/** What needs a person: first on the page, in the server's order. */
export function AttentionStrip({ entries, onOpen }: Props) {
  const [all, setAll] = useState(false)
  const client = useQueryClient()
  const takes = useSession(({ session }) => session?.petugas.role !== TECHNICIAN)
  const shown = all ? entries : entries.slice(0, FIRST)
  function onTaken(entry: Attention, taken: Taken) {
    showTaken(entry, taken)
    void client.invalidateQueries({ queryKey: keys.attention })
  }
  return (
    <section className={styles.strip} aria-label={attentionCopy.title} hidden={entries.length === 0}>
      <p role="status" className="visually-hidden">
        {entries.length === 0 ? attentionCopy.none : attentionCopy.count(entries.length)}
      </p>
      <ul className={styles.entries}>
        {shown.map((entry) => (
          <AttentionEntry
            key={entryKey(entry)}
            entry={entry}
            onTaken={takes ? onTaken : null}
            onOpen={entry.idmesin === null ? null : ({ idmesin }) => idmesin !== null && onOpen(idmesin)}
          />
        ))}
      </ul>
      {shown.length < entries.length && (
        <Button variant="quiet" onClick={() => setAll(true)}>
          {mesinCopy.more(entries.length - shown.length)}
        </Button>
      )}
    </section>
  )
}
