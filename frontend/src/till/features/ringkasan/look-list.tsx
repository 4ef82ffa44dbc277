import { Banknote, ChevronRight, TriangleAlert, WalletCards, WifiOff, Wrench } from 'lucide-react'
import type { ReactNode } from 'react'
import { rupiah } from '@/shared/lib/text/format'
import type { MachineFigures, ShiftFigures, Summary } from '@/till/api/figure-calls'
import { boardPath, paths } from '@/till/lib/page/router'
import { Link } from '@/till/ui/link'
import { countText, longTime, lostRupiah, missing, splitMachines } from './figures'
import styles from './ringkasan.module.css'
import { ringkasan as copy } from './ringkasan-copy'

/** The list is for a first look; the machines' table below has all of them. */
const MAX_MACHINES = 4
const MAX_SHIFTS = 3

interface Props {
  summary: Summary
  idoutlet: number
  /** The chosen days have ended. */
  over: boolean
  shifts: readonly ShiftFigures[]
}

/** What a person should look at: machines that were down or hardly used, cash that differs, balances near their limit. */
export function LookList({ summary: { per_mesin, saldo, saldo_beredar }, idoutlet, over, shifts }: Props) {
  const { look } = splitMachines(per_mesin, over)
  const lost = over ? lostRupiah(per_mesin) : 0
  const cash = shifts.filter(({ selisih }) => selisih !== null && selisih !== 0)
  const balance = saldo_beredar + (saldo.lain ?? 0)
  const high = saldo.ingatkan > 0 && balance >= saldo.ingatkan
  return (
    <section className={styles.card} aria-labelledby="dilihat">
      <div className={styles.head}>
        <h2 id="dilihat" className={styles.title}>
          {copy.look}
        </h2>
        {lost > 0 && <span className={styles.lost}>{copy.lost(rupiah(lost))}</span>}
      </div>
      {look.length + cash.length === 0 && !high && <p className={styles.second}>{copy.lookNone}</p>}
      <ul className={styles.looks}>
        {high && (
          <Row
            icon={<WalletCards size={20} />}
            level="merah"
            title={copy.balanceHigh}
            text={copy.balanceHighWhy(Math.round((100 * balance) / Math.max(saldo.batas, 1)))}
          />
        )}
        {look.slice(0, MAX_MACHINES).map((one) => (
          <Row
            key={one.idmesin}
            icon={iconOf(one)}
            level={one.menit_mati > 0 ? 'merah' : 'kuning'}
            title={one.nama}
            text={textOf(one, over)}
            to={boardPath(idoutlet, one.idmesin)}
          />
        ))}
        {cash.slice(-MAX_SHIFTS).map(({ idshift, selisih, ditutup_oleh, dibuka_oleh, catatan }) => (
          <Row
            key={`shift-${idshift}`}
            icon={<Banknote size={20} />}
            level="kuning"
            title={
              (selisih ?? 0) < 0
                ? copy.cashShort(rupiah(-(selisih ?? 0)))
                : copy.cashOver(rupiah(selisih ?? 0))
            }
            text={copy.cashBy(ditutup_oleh ?? dibuka_oleh, catatan)}
            to={paths.transactions}
          />
        ))}
      </ul>
    </section>
  )
}

/** The longest condition of the machine's day. */
function iconOf({ pita }: MachineFigures): ReactNode {
  const last = [...pita].reverse().find(({ keadaan }) => keadaan !== 'jalan')?.keadaan
  if (last === 'offline') return <WifiOff size={20} />
  if (last === 'ditutup') return <Wrench size={20} />
  return <TriangleAlert size={20} />
}

function textOf(one: MachineFigures, over: boolean): string {
  const { menit_mati, siklus, biasa } = one
  const less = over ? missing(one) : 0
  if (menit_mati > 0) {
    const down = copy.down(longTime(menit_mati))
    return less >= 1 ? `${down}, ${copy.fewer(countText(Math.round(less)))}` : down
  }
  return copy.below(siklus, countText(biasa ?? 0))
}

interface RowProps {
  icon: ReactNode
  level: 'merah' | 'kuning'
  title: string
  text: string
  to?: string
}

function Row({ icon, level, title, text, to }: RowProps) {
  const words = (
    <>
      <span className={styles.sign} data-level={level} aria-hidden="true">
        {icon}
      </span>
      <span className={styles.words}>
        <strong>{title}</strong>
        <span className={styles.second}>{text}</span>
      </span>
    </>
  )
  return (
    <li>
      {to ? (
        <Link to={to} className={styles.look}>
          {words}
          <ChevronRight size={20} aria-hidden className={styles.chevron} />
        </Link>
      ) : (
        <div className={styles.look}>{words}</div>
      )}
    </li>
  )
}
