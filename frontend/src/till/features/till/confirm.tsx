import { Banknote, Landmark, Printer, QrCode } from 'lucide-react'
import { useRef } from 'react'
import { rupiah, signedRupiah } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import type { FoundCustomer, PayMethod } from '@/till/api/types'
import { useTopUpState } from '@/till/lib/money/top-ups'
import { reasonOf } from '@/till/lib/page/explain'
import { useConnected } from '@/till/lib/session/use-connected'
import { takesBills, useQris } from '@/till/lib/session/use-qris'
import { TornCard } from '@/till/ui/torn-card'
import styles from './confirm.module.css'
import { type Choice, firstName, gained, paid, useDraft } from './draft'
import { Newest } from './newest'
import { setPrinting, usePrinting } from './printing'
import { isShownSeparately } from './refused'
import { useParts } from './use-parts'

const TAKES: Record<PayMethod, string> = {
  tunai: 'Terima tunai',
  qris: 'Terima QRIS',
  transfer: 'Terima transfer',
}

interface Props {
  customer: FoundCustomer
  choice: Choice | null
  sending: boolean
  onConfirm: () => void
}

/** A summary of the top-up, and the one button that sends it. */
export function Confirm({ customer, choice, sending, onConfirm }: Props) {
  const connected = useConnected()
  const method = useDraft((state) => state.method)
  const byBill = takesBills(useQris()) && method === 'qris'
  const missing = useParts(({ BillPage }) => BillPage === undefined) && method === 'qris'
  const topUp = useTopUpState()
  const here = useRef<HTMLElement>(null)
  const now = customer.saldo ?? 0
  const more = choice ? gained(choice) : 0
  const reason = !connected
    ? 'Tidak ada sambungan, top-up belum bisa dikirim.'
    : !choice
      ? 'Pilih jumlahnya dulu.'
      : missing
        ? 'QRIS masih dimuat, tunggu sebentar.'
        : ''
  const refusal = topUp.is === 'refused' && !isShownSeparately(topUp.error) ? reasonOf(topUp.error) : ''
  return (
    <section ref={here} tabIndex={-1} className={styles.confirm} aria-label="Konfirmasi">
      <TornCard className={styles.card}>
        <p className={styles.row}>
          <span>Saldo sekarang</span> <span className="digits">{rupiah(now)}</span>
        </p>
        <p className={styles.row}>
          <span>Isi saldo</span> <span className={`digits ${styles.plus}`}>{signedRupiah(more)}</span>
        </p>
        <p className={styles.total}>
          <span>Saldo menjadi</span> <strong className="digits">{rupiah(now + more)}</strong>
        </p>
        <p className={styles.take}>
          <MethodIcon method={method} />
          <span>{TAKES[method]}</span>
          <span className={`digits ${styles.takeMoney}`}>{rupiah(choice ? paid(choice) : 0)}</span>
        </p>
      </TornCard>
      <div className={styles.action}>
        {refusal && (
          <p role="alert" className={styles.refusal}>
            {refusal}
          </p>
        )}
        <p className={styles.becomes}>
          Saldo menjadi <strong className="digits">{rupiah(now + more)}</strong>
        </p>
        <Button
          className={styles.button}
          disabled={reason !== '' && !sending}
          pending={sending}
          aria-describedby="alasan"
          onClick={() => {
            // A later dialog returns the focus here: not to the button that sells, which any Enter would press.
            here.current?.focus({ preventScroll: true })
            onConfirm()
          }}
        >
          {byBill && choice
            ? `Tampilkan QRIS ${rupiah(paid(choice))}`
            : choice
              ? `Isi ${rupiah(gained(choice))} untuk ${firstName(customer.nama)}`
              : `Isi saldo ${firstName(customer.nama)}`}
        </Button>
        <p id="alasan" role="status" className={styles.reason}>
          {sending ? 'Sedang dikirim…' : reason}
        </p>
      </div>
      <Printing />
      <div className={styles.newest}>
        <Newest />
      </div>
    </section>
  )
}

function MethodIcon({ method }: { method: PayMethod }) {
  const Icon = { tunai: Banknote, qris: QrCode, transfer: Landmark }[method]
  return <Icon size={20} aria-hidden />
}

/** Off by default: the customer's own app has every receipt. */
function Printing() {
  const on = usePrinting()
  return (
    <button
      type="button"
      role="switch"
      aria-checked={on}
      className={styles.printing}
      onClick={() => setPrinting(!on)}
    >
      <Printer size={20} aria-hidden />
      Cetak struk
      <span className={styles.track} aria-hidden="true" />
    </button>
  )
}
