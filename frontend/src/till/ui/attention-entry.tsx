import { Hand, TriangleAlert, WifiOff } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { asApiError } from '@/shared/api/error'
import { useOneAtATime } from '@/shared/lib/form/use-submit'
import { useCountdown } from '@/shared/realtime/use-countdown'
import { Button } from '@/shared/ui/button'
import { takeEntry } from '@/till/api/board-calls'
import type { Attention, Taken } from '@/till/api/types'
import { reasonOf } from '@/till/lib/page/explain'
import { notify } from '@/till/lib/page/notices'
import { useConnected } from '@/till/lib/session/use-connected'
import { useOutletMoment } from '@/till/lib/session/use-outlet-moment'
import { attentionCopy, entryText } from './attention-copy'
import styles from './attention-entry.module.css'
import { Link } from './link'

interface Props {
  entry: Attention
  /** Null for who takes none. */
  onTaken: ((entry: Attention, taken: Taken) => void) | null
  /** Shows more of it on this page. */
  onOpen?: ((entry: Attention) => void) | null
  /** The screen that shows more of it. */
  to?: string | null
  /** Shows the outlet's name, for a list of several outlets' entries. */
  withOutlet?: boolean
}

/** Something that needs a person, with a button to take it. */
export function AttentionEntry({ entry, onTaken, onOpen = null, to = null, withOutlet = false }: Props) {
  const { tingkat, nama, outlet, ditangani } = entry
  const text = useEntryText(entry)
  const moment = useOutletMoment(entry.idoutlet)
  return (
    <li className={styles.entry} data-level={tingkat}>
      <What to={to} onOpen={onOpen && (() => onOpen(entry))}>
        <LevelSign entry={entry} />
        <span className={styles.words}>
          <span className={styles.name}>{nama}</span>
          {withOutlet && outlet !== nama && <span className={styles.place}>{outlet}</span>}
          <span className={styles.text}>{text}</span>
        </span>
      </What>
      {ditangani ? (
        <p className={styles.taken}>{attentionCopy.takenBy(ditangani.nama, moment(ditangani.sampai))}</p>
      ) : (
        onTaken && <Take entry={entry} onTaken={onTaken} />
      )}
    </li>
  )
}

interface WhatProps {
  to: string | null
  onOpen: (() => void) | null
  children: ReactNode
}

/** What the entry is about; a link or a button where there is more to see. */
function What({ to, onOpen, children }: WhatProps) {
  if (onOpen) {
    return (
      <button type="button" className={styles.what} onClick={onOpen}>
        {children}
      </button>
    )
  }
  if (to === null) return <div className={styles.what}>{children}</div>
  return (
    <Link to={to} className={styles.what}>
      {children}
    </Link>
  )
}

/** Takes an entry. A repeat is harmless, so that an unanswered call needs no more than another touch. */
function Take({ entry, onTaken }: { entry: Attention; onTaken: NonNullable<Props['onTaken']> }) {
  const connected = useConnected()
  const once = useOneAtATime()
  const [pending, setPending] = useState(false)
  const take = () =>
    once(async () => {
      setPending(true)
      try {
        onTaken(entry, await takeEntry(entry))
      } catch (error) {
        const { status } = asApiError(error)
        if (status === 409) notify.failure(attentionCopy.takenByOther(entry.nama))
        else if (status === 404) notify.info(attentionCopy.alreadyOver(entry.nama))
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
      aria-label={attentionCopy.takeOf(entry.nama)}
      onClick={take}
    >
      {attentionCopy.take}
    </Button>
  )
}

/** The wording of an entry, with the time of held money counting down. */
export function useEntryText(entry: Attention): string {
  const { kembali_at } = entry
  const left_s = useCountdown(kembali_at === null ? null : new Date(kembali_at).getTime())
  const moment = useOutletMoment(entry.idoutlet)
  return entryText(entry, moment(entry.sejak), left_s === null ? null : left_s * 1000)
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
