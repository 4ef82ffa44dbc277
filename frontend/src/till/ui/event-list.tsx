import type { Schemas } from '@/shared/api/model'
import { useNow } from '@/till/lib/page/clock'
import { useZone } from '@/till/lib/page/zone'
import { momentThere } from '@/till/lib/page/zone-clock'
import styles from './event-list.module.css'

/** What happened to a machine or a purchase, in the server's order and words. */
export function EventList({ events }: { events: readonly Schemas['Riwayat'][] }) {
  const zone = useZone()
  const now = useNow(60_000)
  return (
    <ol className={styles.events}>
      {events.map(({ at, teks, apa }, i) => (
        // Two events may have one time and one text.
        // biome-ignore lint/suspicious/noArrayIndexKey: an event is its place in the list
        <li key={i} className={styles.event} data-what={apa}>
          <span className={`digits ${styles.at}`}>{momentThere(Date.parse(at), zone, now)}</span>
          <span>{teks}</span>
        </li>
      ))}
    </ol>
  )
}
