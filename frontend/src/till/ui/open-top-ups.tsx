import { moment, rupiah } from '@/shared/lib/text/format'
import { useOpenTopUps } from '@/till/lib/money/top-ups'
import { useSession } from '@/till/lib/session/session'
import styles from './open-top-ups.module.css'

/** Other staff's top-ups with an unknown outcome, for one customer or all: only the sender can repeat one. */
export function OpenTopUps({ customer }: { customer?: number }) {
  const me = useSession(({ session }) => session?.petugas.id)
  const others = useOpenTopUps().filter(
    ({ who, body }) => who.id !== me && (customer === undefined || body.id_customer_global === customer),
  )
  if (others.length === 0) return null
  return (
    <ul className={styles.list} aria-label="Top-up yang belum terjawab">
      {others.map(({ key, body, nama, who, at }) => (
        <li key={key} className={styles.open}>
          {`Top-up ${rupiah(body.nominal)} untuk ${nama} oleh ${who.nama} (${moment(at)}) belum terjawab. Begitu ${who.nama} masuk lagi, kasir menanyakannya.`}
        </li>
      ))}
    </ul>
  )
}
