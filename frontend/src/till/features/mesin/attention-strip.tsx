import { Hand, TriangleAlert, WifiOff } from 'lucide-react'
import { useState } from 'react'
import { asApiError } from '@/shared/api/error'
import { useOneAtATime } from '@/shared/lib/form/use-submit'
import { useCountdown } from '@/shared/realtime/use-countdown'
import { Button } from '@/shared/ui/button'
import { takeEntry } from '@/till/api/board-calls'
import type { Attention } from '@/till/api/types'
import { reasonOf } from '@/till/lib/page/explain'
import { notify } from '@/till/lib/page/notices'
import { useConnected } from '@/till/lib/session/use-connected'
import styles from './attention-strip.module.css'
import { entryKey, showTaken } from './board-connection'
import { entryText, mesinCopy } from './mesin-copy'

/** Entries that are shown at once: the grid below stays in sight. */
const FIRST = 6

interface Props {
  entries: readonly Attention[]
  onOpen: (id: number) => void
}

/** What needs a person: first on the page, in the server's order. */
export function AttentionStrip({ entries, onOpen }: Props) {
  const [all, setAll] = useState(false)
  const shown = all ? entries : entries.slice(0, FIRST)
  return (
    <section className={styles.strip} aria-label={mesinCopy.attention} hidden={entries.length === 0}>
      <p role="status" className="visually-hidden">
        {entries.length === 0 ? mesinCopy.attentionNone : mesinCopy.attentionCount(entries.length)}
      </p>
      <ul className={styles.entries}>
        {shown.map((entry) => (
          <Entry key={entryKey(entry)} entry={entry} onOpen={onOpen} />
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

function Entry({ entry, onOpen }: { entry: Attention; onOpen: (id: number) => void }) {
  const { tingkat, idmesin, nama, ditangani } = entry
  const text = useEntryText(entry)
  const words = (
    <>
      <LevelSign entry={entry} />
      <span className={styles.words}>
        <span className={styles.name}>{nama}</span>
        <span className={styles.text}>{text}</span>
      </span>
    </>
  )
  return (
    <li className={styles.entry} data-level={tingkat}>
      {idmesin === null ? (
        <div className={styles.what}>{words}</div>
      ) : (
        <button type="button" className={styles.what} onClick={() => onOpen(idmesin)}>
          {words}
        </button>
      )}
      {ditangani ? (
        <p className={styles.taken}>{mesinCopy.takenBy(ditangani.nama, ditangani.sampai)}</p>
      ) : (
        <Take entry={entry} />
      )}
    </li>
  )
}

/** Takes an entry. A repeat is harmless, so that an unanswered call needs no more than another touch. */
function Take({ entry }: { entry: Attention }) {
  const connected = useConnected()
  const once = useOneAtATime()
  const [pending, setPending] = useState(false)
  const take = () =>
    once(async () => {
      setPending(true)
      try {
        showTaken(entry, await takeEntry(entry))
      } catch (error) {
        const { status } = asApiError(error)
        if (status === 409) notify.failure(mesinCopy.takenByOther(entry.nama))
        else if (status === 404) notify.info(mesinCopy.alreadyOver(entry.nama))
        else notify.failure(reasonOf(error))
      }
      setPending(false)
    })
  return (
    <Button
      variant="secondary"
      className={styles.take}
      pending={pending}
      disabled={!connected && !pending}
      aria-label={mesinCopy.takeOf(entry.nama)}
      onClick={take}
    >
      {mesinCopy.take}
    </Button>
  )
}

/** The wording of an entry, with the time of held money counting down. */
export function useEntryText(entry: Attention): string {
  const { kembali_at } = entry
  const left_s = useCountdown(kembali_at === null ? null : new Date(kembali_at).getTime())
  return entryText(entry, left_s === null ? null : left_s * 1000)
}

/** The level by shape and colour: a filled square, a dashed circle, a plain circle. */
export function LevelSign({ entry: { jenis, tingkat } }: { entry: Attention }) {
  return (
    <span className={styles.sign} data-level={tingkat} aria-hidden="true">
      {tingkat === 'merah' ? (
        <Hand size={22} />
      ) : jenis === 'offline' ? (
        <WifiOff size={20} />
      ) : jenis === 'belum_pasti' ? (
        <span>?</span>
      ) : (
        <TriangleAlert size={20} />
      )}
    </span>
  )
}
