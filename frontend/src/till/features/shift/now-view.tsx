import { ArrowDownToLine, ArrowUpFromLine, Landmark, type LucideIcon } from 'lucide-react'
import { useState } from 'react'
import { moment, rupiah, signedRupiah } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import type { CashKind, CashMove, Shift, ShiftNow } from '@/till/api/types'
import { Entry } from '@/till/ui/entry'
import { OpenCalls } from '@/till/ui/open-calls'
import { Rows } from '@/till/ui/rows'
import { CashDialog } from './cash-dialog'
import { CASH, MOVES } from './cash-kinds'
import styles from './now-view.module.css'
import { soldRows } from './sold-rows'

const ICONS: Record<CashKind, LucideIcon> = {
  masuk: ArrowDownToLine,
  keluar: ArrowUpFromLine,
  setor: Landmark,
}
const OPEN = ['kas']

interface Props {
  shift: Shift
  now: ShiftNow
  onCount: () => void
}

/** The open shift. */
export function NowView({ shift, now, onCount }: Props) {
  const [kind, setKind] = useState<CashKind | null>(null)
  const moves = now.gerak.filter(({ jenis }) => jenis in MOVES)
  return (
    <div className={styles.page}>
      <section className={styles.drawer} aria-labelledby="shift-terbuka">
        {!kind && <OpenCalls about={OPEN} />}
        <div className={styles.card}>
          <h2 id="shift-terbuka" className={styles.heading}>
            Shift terbuka
          </h2>
          <Rows
            rows={[
              ['Sejak', moment(Date.parse(shift.dibuka_at))],
              ['Dibuka oleh', shift.petugas],
              // A cashier counts without seeing any of these values.
              ['Modal', shift.modal === null ? null : rupiah(shift.modal)],
              ['Seharusnya di laci', now.diharapkan === null ? null : rupiah(now.diharapkan)],
              ...(now.cara_bayar ? soldRows(now.cara_bayar) : []),
              ['Isi saldo lama dibuka', now.topup_dilihat == null ? null : `${now.topup_dilihat} kali`],
            ]}
          />
        </div>
        <div className={styles.kinds}>
          {(Object.keys(CASH) as CashKind[]).map((one) => {
            const Icon = ICONS[one]
            return (
              <button key={one} type="button" className={styles.kind} onClick={() => setKind(one)}>
                <Icon size={22} aria-hidden />
                <span>{CASH[one].name}</span>
              </button>
            )
          })}
        </div>
        <div className={styles.close}>
          <Button onClick={onCount}>Tutup shift</Button>
        </div>
      </section>
      <section className={styles.moves} aria-labelledby="uang-laci">
        <h2 id="uang-laci" className={styles.listHeading}>
          Keluar masuk laci
        </h2>
        {moves.length === 0 ? (
          <p className={styles.none}>Belum ada selain isi saldo tunai.</p>
        ) : (
          <ul>
            {moves.map((move) => (
              <li key={move.id}>
                <Move move={move} />
              </li>
            ))}
          </ul>
        )}
      </section>
      <CashDialog kind={kind} onClose={() => setKind(null)} />
    </div>
  )
}

function Move({ move: { jenis, nominal, alasan, petugas, created_at } }: { move: CashMove }) {
  const incoming = jenis === 'masuk'
  return (
    <Entry
      at={created_at}
      name={MOVES[jenis] ?? jenis}
      how={[alasan, petugas].filter(Boolean).join(' · ')}
      amount={nominal === null ? 'Rp •••' : signedRupiah(incoming ? nominal : -nominal)}
      plus={incoming}
    />
  )
}
