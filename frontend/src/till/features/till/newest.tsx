import { useQuery } from '@tanstack/react-query'
import { clockTime, signedRupiah } from '@/shared/lib/text/format'
import { getTopUps } from '@/till/api/calls'
import { keys } from '@/till/api/keys'
import type { ListedTopUp } from '@/till/api/types'
import { methodName } from '@/till/lib/money/pay-method'
import { paths } from '@/till/lib/page/router'
import { Link } from '@/till/ui/link'
import styles from './newest.module.css'

const SHOWN = 4

/** The last few top-ups of this shift, so that the cashier does not make the same one twice. */
export function Newest() {
  const { data } = useQuery({
    queryKey: keys.newestTopUps,
    queryFn: ({ signal }) => getTopUps(SHOWN, signal),
  })
  if (!data || data.baris.length === 0) return null
  return (
    <>
      <h2 className={styles.head}>
        Baru saja <Link to={paths.transactions}>Semua</Link>
      </h2>
      <ul>
        {data.baris.map((row) => (
          <Row key={row.idpembelian_emoney} row={row} />
        ))}
      </ul>
    </>
  )
}

function Row({ row }: { row: ListedTopUp }) {
  const { created_at, nama, quota, nominal, nama_paket, cara_bayar, batal_at, batal_oleh } = row
  const gone = batal_at !== null
  const how = [cara_bayar && methodName(cara_bayar), quota !== nominal && nama_paket]
    .filter(Boolean)
    .join(', ')
  return (
    <li className={styles.entry} data-gone={gone || undefined}>
      <span className="digits">{clockTime(created_at)}</span>
      <span className={styles.who}>
        <span className={styles.name}>{nama}</span>
        <span className={styles.how}>
          {gone ? ['Dibatalkan', batal_oleh].filter(Boolean).join(' ') : how}
        </span>
      </span>
      <span className={`digits ${styles.plus}`}>{quota === null ? 'Rp •••' : signedRupiah(quota)}</span>
    </li>
  )
}
