import { rupiah, signedRupiah } from '@/shared/lib/text/format'
import type { Methods, ShiftFigures, Summary } from '@/till/api/figure-calls'
import { momentThere } from '@/till/lib/page/zone-clock'
import styles from './ringkasan.module.css'
import { ringkasan as copy } from './ringkasan-copy'

const METHODS = ['tunai', 'qris', 'transfer', 'lain'] as const
const MAX_SHIFTS = 6

const sumOf = (methods: Methods) => METHODS.reduce((sum, one) => sum + methods[one], 0)

/** Top-ups by how they were paid. */
export function TopUpCard({ summary: { topup, topup_kali } }: { summary: Summary }) {
  const sum = sumOf(topup)
  const shown = METHODS.filter((one) => one !== 'lain' || topup[one] !== 0)
  let at = 0
  return (
    <figure className={styles.card} aria-labelledby="isi-saldo">
      <figcaption>
        <h2 id="isi-saldo" className={styles.title}>
          {copy.topUps}
        </h2>
      </figcaption>
      <p className={`digits ${styles.amount}`}>{rupiah(sum)}</p>
      <svg className={styles.stack} viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
        <rect className={styles.track} width="100" height="10" />
        {shown.map((one) => {
          const width = sum === 0 ? 0 : (100 * topup[one]) / sum
          const x = at
          at += width
          return (
            <rect key={one} className={styles.method} data-method={one} x={x} width={width} height="10" />
          )
        })}
      </svg>
      <table className={styles.table}>
        <thead className="visually-hidden">
          <tr>
            <th scope="col">{copy.method}</th>
            <th scope="col">{copy.count}</th>
            <th scope="col">{copy.amount}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((one) => (
            <tr key={one}>
              <th scope="row">
                <span className={styles.swatch} data-method={one} />
                <span>{copy.methods[one]}</span>
              </th>
              <td className={`digits ${styles.quiet}`}>{copy.times(topup_kali[one])}</td>
              <td className="digits">{rupiah(topup[one])}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}

/** Coins that fell into machines. */
export function CoinCard({ coins: { jumlah, rupiah: worth } }: { coins: NonNullable<Summary['koin']> }) {
  return (
    <section className={styles.card} aria-labelledby="koin">
      <h2 id="koin" className={styles.title}>
        {copy.coins}
      </h2>
      <p className={`digits ${styles.amount}`}>{rupiah(worth)}</p>
      <p className={styles.second}>{copy.coinCount(jumlah)}</p>
    </section>
  )
}

/** What the outlet owes its customers, beside the limit above which such money needs a licence. */
export function BalanceCard({ summary: { saldo_beredar, saldo } }: { summary: Summary }) {
  const { lain, batas, ingatkan, perubahan } = saldo
  const sum = saldo_beredar + (lain ?? 0)
  const share = (amount: number) => (batas > 0 ? Math.min(100, (100 * Math.max(0, amount)) / batas) : 0)
  const high = ingatkan > 0 && sum >= ingatkan
  return (
    <figure className={styles.card} aria-labelledby="saldo">
      <figcaption>
        <h2 id="saldo" className={styles.title}>
          {copy.balance}
        </h2>
      </figcaption>
      <p className={`digits ${styles.amount}`} data-bad={high || undefined}>
        {rupiah(sum)}
      </p>
      <svg className={styles.stack} viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
        <rect className={styles.track} width="100" height="10" />
        <rect className={styles.method} data-method="tunai" width={share(saldo_beredar)} height="10" />
        <rect
          className={styles.method}
          data-method="qris"
          x={share(saldo_beredar)}
          width={share(sum) - share(saldo_beredar)}
          height="10"
        />
        <rect className={styles.remind} x={share(ingatkan)} width="0.7" height="10" />
      </svg>
      <table className={styles.table}>
        <tbody>
          <Line name={copy.here} value={rupiah(saldo_beredar)} method="tunai" />
          {lain !== null && <Line name={copy.others} value={rupiah(lain)} method="qris" />}
          <Line name={copy.change} value={signedRupiah(perubahan)} />
          {batas > 0 && <Line name={copy.limit} value={`${rupiah(batas)} (${Math.round(share(sum))}%)`} />}
          {ingatkan > 0 && <Line name={copy.remind} value={rupiah(ingatkan)} />}
        </tbody>
      </table>
    </figure>
  )
}

function Line({ name, value, method }: { name: string; value: string; method?: keyof Methods }) {
  return (
    <tr>
      <th scope="row">
        {method && <span className={styles.swatch} data-method={method} />}
        <span>{name}</span>
      </th>
      <td className="digits">{value}</td>
    </tr>
  )
}

interface CashProps {
  summary: Summary
  /** Undefined while they are fetched. */
  shifts: readonly ShiftFigures[] | undefined
  zone: string
}

/** Cash that differs from what the till expected, by shift and person. */
export function CashCard({ summary: { selisih_kas }, shifts, zone }: CashProps) {
  const differs = ({ selisih }: ShiftFigures) => selisih !== null && selisih !== 0
  const rows = [...(shifts ?? [])].reverse().sort((a, b) => Number(differs(b)) - Number(differs(a)))
  const now_ms = Date.now()
  return (
    <section className={styles.card} aria-labelledby="kas">
      <h2 id="kas" className={styles.title}>
        {copy.cash}
      </h2>
      <p className={`digits ${styles.amount}`} data-bad={selisih_kas < 0 || undefined}>
        {selisih_kas === 0 ? copy.even : signedRupiah(selisih_kas)}
      </p>
      {shifts?.length === 0 && <p className={styles.second}>{copy.noShifts}</p>}
      <table className={styles.table} aria-label={copy.cash}>
        <tbody>
          {rows.slice(0, MAX_SHIFTS).map((one) => (
            <tr key={one.idshift}>
              <th scope="row">
                <span className={styles.words}>
                  <strong>{one.ditutup_oleh ?? one.dibuka_oleh}</strong>
                  <span className={styles.second}>
                    {`${one.perangkat}, ${momentThere(Date.parse(one.dibuka_at), zone, now_ms)}`}
                  </span>
                  {one.catatan && <span className={styles.second}>{one.catatan}</span>}
                </span>
              </th>
              <td
                className="digits"
                data-bad={(one.selisih ?? 0) < 0 || undefined}
                data-good={one.selisih === 0 || undefined}
              >
                {one.selisih === null
                  ? copy.notCounted
                  : one.selisih === 0
                    ? copy.even
                    : signedRupiah(one.selisih)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** Reversed top-ups and refunds, by who did them. */
export function ReturnsCard({
  summary: { per_orang, batal, refund, kembali_sendiri },
}: {
  summary: Summary
}) {
  const cell = (amount: number, count: number) => (
    <td className="digits">
      <span>{count === 0 ? '–' : rupiah(amount)}</span>
      {count > 0 && <span className={styles.times}>{copy.times(count)}</span>}
    </td>
  )
  const total = (field: 'batal_kali' | 'refund_kali') => per_orang.reduce((sum, one) => sum + one[field], 0)
  return (
    <section className={styles.card} aria-labelledby="kembali">
      <h2 id="kembali" className={styles.title}>
        {copy.returns}
      </h2>
      {per_orang.length === 0 ? (
        <p className={styles.second}>{copy.noReturns}</p>
      ) : (
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">{copy.person}</th>
              <th scope="col">{copy.reversed}</th>
              <th scope="col">{copy.refunded}</th>
            </tr>
          </thead>
          <tbody>
            {per_orang.map((one) => (
              // Two members of staff may have the same name.
              <tr key={JSON.stringify(one)}>
                <th scope="row">{one.petugas}</th>
                {cell(one.batal, one.batal_kali)}
                {cell(one.refund, one.refund_kali)}
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">{copy.all}</th>
              {cell(batal, total('batal_kali'))}
              {cell(refund, total('refund_kali'))}
            </tr>
          </tfoot>
        </table>
      )}
      {kembali_sendiri.kali > 0 && (
        <p className={styles.second}>
          {`${copy.byItself} ${rupiah(kembali_sendiri.jumlah)}, ${copy.times(kembali_sendiri.kali)}`}
        </p>
      )}
    </section>
  )
}
