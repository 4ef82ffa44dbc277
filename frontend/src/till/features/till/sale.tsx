import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Calculator, Check, History, ScanBarcode } from 'lucide-react'
import { useEffect, useState } from 'react'
import { clockTime, formatDate, formatDateTime, rupiah, signedRupiah } from '@/shared/lib/text/format'
import { Kawung } from '@/shared/ui/kawung'
import { getPackages } from '@/till/api/calls'
import { keys } from '@/till/api/keys'
import type { FoundCustomer, Package, TopUpBody } from '@/till/api/types'
import { topUps, useTopUpState } from '@/till/lib/money/top-ups'
import { useSession } from '@/till/lib/session/session'
import { takesBills, useQris } from '@/till/lib/session/use-qris'
import { AmountDialog } from './amount-dialog'
import { Confirm } from './confirm'
import { type Choice, draft, gained, paid, useDraft } from './draft'
import { PayWith } from './pay-with'
import { Refused } from './refused'
import styles from './sale.module.css'
import { useParts } from './use-parts'

const CHIPS = [10_000, 20_000, 50_000, 100_000]

interface Props {
  customer: FoundCustomer
  idoutlet: number
  /** Continues with another customer. */
  onNext: () => void
}

/** A customer, an amount, and one button. */
export function Sale({ customer, idoutlet, onNext }: Props) {
  const { choice, qr } = useDraft()
  const { MoreWays, ReferenceDialog } = useParts()
  const qris = useQris()
  const [referring, setReferring] = useState(false)
  const topUp = useTopUpState()
  const who = useSession(({ session }) => session?.petugas.id)
  const sending = topUp.is === 'asking'

  function send(ref_bayar?: string) {
    const { choice, method, typed } = useDraft.getState()
    if (!choice) return
    if (who !== undefined) draft.sent(who)
    if (method === 'qris' && takesBills(qris)) return draft.show('new')
    if (method === 'qris' && qris === 'manual' && ref_bayar === undefined) return setReferring(true)
    setReferring(false)
    const body: TopUpBody = {
      id_customer_global: customer.id_customer_global,
      idoutlet,
      nominal: paid(choice),
      ...(choice.is === 'package' && { idpaket: choice.package.idpaket }),
      cara_bayar: method,
      ...(ref_bayar !== undefined && { ref_bayar }),
    }
    topUps.start(body, { nama: customer.nama, typed, gained: gained(choice) })
  }
  useFreshPrices()

  return (
    <div className={styles.sale}>
      {/* A top-up that is being sent cannot be changed any more. */}
      <fieldset className={styles.choices} disabled={sending} aria-label="Top-up">
        <Customer customer={customer} onOther={onNext} />
        <Amounts customer={customer} choice={choice} />
        <PayWith />
        {MoreWays && qr !== null ? (
          <MoreWays customer={customer} qr={qr} onNext={onNext} />
        ) : (
          <p className={styles.hint}>
            <ScanBarcode size={18} aria-hidden />
            Alat pindai siap. Pelanggan berikutnya boleh dipindai kapan saja.
          </p>
        )}
      </fieldset>
      <Confirm customer={customer} choice={choice} sending={sending} onConfirm={() => send()} />
      <Refused customer={customer} />
      {ReferenceDialog && referring && choice && (
        <ReferenceDialog
          nominal={paid(choice)}
          nama={customer.nama}
          onClose={() => setReferring(false)}
          onSeen={send}
        />
      )}
    </div>
  )
}

/** The price of a refused package may have changed. */
function useFreshPrices(): void {
  const client = useQueryClient()
  const topUp = useTopUpState()
  useEffect(() => {
    if (topUp.is !== 'refused' || !topUp.open.body.idpaket) return
    draft.choose(null)
    void client.invalidateQueries({ queryKey: keys.packages })
  }, [client, topUp])
}

function Customer({
  customer: { nama, telp, saldo, rekening },
  onOther,
}: {
  customer: FoundCustomer
  onOther: () => void
}) {
  const { found_at, typed } = useDraft()
  return (
    <section className={styles.customer} aria-label="Pelanggan">
      <Kawung />
      <p className={styles.how}>
        <Check size={18} aria-hidden />
        <span>{`${typed === null ? 'QR dipindai' : 'Nomor dicari'} ${clockTime(found_at)}`}</span>
      </p>
      <button type="button" className={styles.other} onClick={onOther}>
        Ganti<span className={styles.whom}> pelanggan</span>
      </button>
      <div className={styles.who}>
        <h2 className={styles.name}>{nama}</h2>
        <p className="digits">{telp}</p>
      </div>
      <div className={styles.balance}>
        <p>Saldo di outlet ini</p>
        <p className={`digits ${styles.money}`} translate="no">
          {rupiah(saldo ?? 0)}
        </p>
        {rekening?.masa_aktif != null && (
          <p>
            <span>{rekening.masa_aktif < Date.now() ? 'Kedaluwarsa sejak' : 'Berlaku sampai'}</span>{' '}
            <span className="digits" translate="no">
              {formatDateTime(rekening.masa_aktif)}
            </span>
          </p>
        )}
      </div>
    </section>
  )
}

function Amounts({ customer, choice }: { customer: FoundCustomer; choice: Choice | null }) {
  const packages = useQuery({
    queryKey: keys.packages,
    queryFn: ({ signal }) => getPackages(signal),
    staleTime: 60_000,
  })
  const [typing, setTyping] = useState(false)
  const active = packages.data ?? []
  const nominal = choice?.is === 'amount' ? choice.nominal : null
  const other = nominal !== null && !CHIPS.includes(nominal)
  const plain = refusalOf(customer, null)
  return (
    <section className={styles.amounts} aria-labelledby="jumlah">
      <h2 id="jumlah" className={styles.heading}>
        Jumlah isi saldo <span className={styles.unit}>rupiah</span>
      </h2>
      <div className={styles.chips}>
        {CHIPS.map((amount) => (
          <button
            key={amount}
            type="button"
            className={`digits ${styles.chip}`}
            aria-pressed={nominal === amount}
            aria-label={rupiah(amount)}
            disabled={plain !== null}
            onClick={() => draft.choose({ is: 'amount', nominal: amount })}
          >
            {rupiah(amount).slice('Rp '.length)}
          </button>
        ))}
      </div>
      {plain !== null && <p className={styles.notSold}>{`Tanpa paket tidak bisa: ${plain}.`}</p>}
      <div className={styles.wide}>
        {active.map((one) => (
          <PackageChip
            key={one.idpaket}
            offer={one}
            refusal={refusalOf(customer, one.idpaket)}
            chosen={choice?.is === 'package' && choice.package.idpaket === one.idpaket}
          />
        ))}
        <button
          type="button"
          className={styles.way}
          aria-pressed={other}
          disabled={plain !== null}
          onClick={() => setTyping(true)}
        >
          <Calculator size={22} aria-hidden />
          <span>
            <strong>Jumlah lain</strong>
            {other && <span className={styles.second}>{rupiah(nominal)}</span>}
          </span>
        </button>
        <LastTime customer={customer} packages={active} />
      </div>
      <AmountDialog
        open={typing}
        onClose={() => setTyping(false)}
        onAmount={(amount) => {
          draft.choose({ is: 'amount', nominal: amount })
          setTyping(false)
        }}
      />
    </section>
  )
}

/** The reason why the wallet does not accept that package, or any amount without one (null). */
const refusalOf = ({ ditolak }: FoundCustomer, idpaket: number | null) =>
  ditolak.find((one) => (one.idpaket ?? null) === idpaket)?.sebab ?? null

function PackageChip({
  offer,
  chosen,
  refusal,
}: {
  offer: Package
  chosen: boolean
  refusal: string | null
}) {
  const { nama, harga, quota, berlaku_hari } = offer
  return (
    <button
      type="button"
      className={`${styles.way} ${styles.package}`}
      aria-pressed={chosen}
      disabled={refusal !== null}
      onClick={() => draft.choose({ is: 'package', package: offer })}
    >
      <strong className={styles.packageName}>{nama}</strong>
      {quota !== harga && (
        <span className={`digits ${styles.bonus}`}>{bare(signedRupiah(quota - harga))}</span>
      )}
      <span className={styles.second}>
        {`bayar ${bare(rupiah(harga))}, dapat ${bare(rupiah(quota))}${berlaku_hari != null ? `, berlaku ${berlaku_hari} hari` : ''}`}
      </span>
      {refusal !== null && <span className={styles.second}>{`Tidak bisa: ${refusal}`}</span>}
    </button>
  )
}

/** The heading already contains the currency. */
const bare = (money: string) => money.replace('Rp ', '')

/** Offers the last top-up again, where it can still be bought. */
function LastTime({ customer, packages }: { customer: FoundCustomer; packages: Package[] }) {
  const { terakhir } = customer
  if (!terakhir) return null
  const { nominal, idpaket, created_at } = terakhir
  const offer = packages.find((one) => one.idpaket === idpaket)
  if (idpaket !== null && !offer) return null
  if (refusalOf(customer, offer?.idpaket ?? null) !== null) return null
  return (
    <button
      type="button"
      className={styles.way}
      onClick={() => draft.choose(offer ? { is: 'package', package: offer } : { is: 'amount', nominal })}
    >
      <History size={22} aria-hidden />
      <span>
        <strong>Seperti terakhir</strong>
        <span className={styles.second}>
          {`${offer ? offer.nama : rupiah(nominal)} pada ${formatDate(created_at)}`}
        </span>
      </span>
    </button>
  )
}
