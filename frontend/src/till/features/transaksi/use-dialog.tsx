import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { formatDateTime, rupiah } from '@/shared/lib/text/format'
import { sentence } from '@/shared/lib/text/sentence'
import { Button } from '@/shared/ui/button'
import { Dialog } from '@/shared/ui/dialog'
import { deletionOf, refundOf } from '@/till/api/calls'
import { keys } from '@/till/api/keys'
import type { MoneyBack, UseRow } from '@/till/api/types'
import { giveBackOffer } from '@/till/lib/money/offers'
import { useMoney } from '@/till/lib/money/use-money'
import { patchRow } from '@/till/lib/page/use-pages'
import { AmountPad } from '@/till/ui/amount-pad'
import { Decide } from '@/till/ui/decide'
import { Rows } from '@/till/ui/rows'
import { Unanswered } from '@/till/ui/unanswered'
import { View } from '@/till/ui/view'
import styles from './dialog.module.css'
import { statusName } from './status-name'

const REASONS = ['Mesin rusak', 'Salah mesin', 'Salah layanan']

interface Props {
  row: UseRow | null
  onClose: () => void
}

/** One purchase, and the possible refunds for it. */
export function UseDialog({ row, onClose }: Props) {
  return (
    <Dialog open={row !== null} onClose={onClose} title={row ? `Pemakaian ${row.nama}` : ''}>
      {row && <Use row={row} onClose={onClose} />}
    </Dialog>
  )
}

type DialogStep = 'details' | 'amount' | 'refund' | 'delete'

function Use({ row, onClose }: { row: UseRow; onClose: () => void }) {
  const { idtransaksi, idcustomer, nama, mesin, grandtotal, dikembalikan, dihapus_at } = row
  const client = useQueryClient()
  const offer = giveBackOffer(row)
  const [step, setStep] = useState<DialogStep>('details')
  const [chosen, setChosen] = useState<number | null>(null)
  const [done, setDone] = useState<MoneyBack | null>(null)
  const money = useMoney<MoneyBack>(`use:${idtransaksi}:${idcustomer}`, {
    onDone: (answer, { path }) => {
      setDone(answer)
      patchRow<UseRow>(
        client,
        keys.uses,
        (one) => one.idtransaksi === idtransaksi && one.idcustomer === idcustomer,
        (one) => ({
          ...one,
          dikembalikan: one.dikembalikan + answer.jumlah,
          dihapus_at: path === 'hapus' ? new Date().toISOString() : one.dihapus_at,
        }),
      )
      // The counters of other rows have changed, too.
      void client.invalidateQueries({ queryKey: keys.uses })
    },
    onRefused: () => void client.invalidateQueries({ queryKey: keys.uses }),
  })

  if (done) {
    return (
      <View label="Hasil">
        <p role="status" className={styles.done}>
          <strong className="digits">{rupiah(done.jumlah)}</strong>{' '}
          <span>{`kembali ke saldo ${nama}, sekarang`}</span>{' '}
          <strong className="digits">{rupiah(done.saldo_akhir)}</strong>
          <span>
            {done.berlaku_sampai != null ? `, berlaku sampai ${formatDateTime(done.berlaku_sampai)}.` : '.'}
          </span>
        </p>
        <HowOften {...done.ke} />
        <Button onClick={onClose}>Selesai</Button>
      </View>
    )
  }

  const amount = Math.min(chosen ?? offer.refund, offer.refund)
  if (step === 'amount' && offer.refund > 0) {
    return (
      <View label="Jumlah refund">
        <AmountPad
          label={`Jumlah refund, paling banyak ${rupiah(offer.refund)}`}
          value={amount}
          max={offer.refund}
          replace
          onChange={setChosen}
          onEnter={() => amount > 0 && setStep('refund')}
        />
        <Button disabled={amount === 0} onClick={() => setStep('refund')}>
          {amount > 0 ? `Pakai ${rupiah(amount)}` : 'Ketik jumlahnya'}
        </Button>
      </View>
    )
  }
  const next = { pelanggan: row.sudah.pelanggan + 1, mesin: row.sudah.mesin + 1 }
  if (step === 'refund' && (offer.refund > 0 || money.pending)) {
    return (
      <Decide
        money={money}
        what={sentence(`Refund ${rupiah(amount)} untuk ${nama}`)}
        reasons={REASONS}
        label={`Refund ${rupiah(amount)}`}
        approval={{ aksi: 'refund', objek: `${idtransaksi}:${idcustomer}:${amount}` }}
        request={(alasan) => refundOf(row, amount, alasan)}
      >
        <Button variant="quiet" disabled={money.pending} onClick={() => setStep('amount')}>
          Ubah jumlah
        </Button>
        <HowOften {...next} />
      </Decide>
    )
  }
  if (step === 'delete' && (offer.remove || money.pending)) {
    return (
      <Decide
        money={money}
        what={
          offer.refund > 0
            ? `Hapus pemakaian ${nama} dan kembalikan ${rupiah(offer.refund)}.`
            : `Hapus pemakaian ${sentence(nama)} Semua uangnya sudah kembali.`
        }
        reasons={REASONS}
        label="Hapus pemakaian"
        danger
        approval={{ aksi: 'hapus', objek: `${idtransaksi}:${idcustomer}` }}
        request={(alasan) => deletionOf(row, alasan)}
      >
        <HowOften {...next} />
      </Decide>
    )
  }
  return (
    <View label="Rincian">
      <Rows
        rows={[
          ['Mesin', mesin],
          ['Layanan', row.layanan],
          ['Harga', rupiah(grandtotal)],
          ['Dikembalikan', dikembalikan > 0 ? rupiah(dikembalikan) : null],
          ['Keadaan', statusName(row.status)],
          ['No Nota', idtransaksi],
          ['Waktu', formatDateTime(row.created_at)],
          ['Dihapus', dihapus_at === null ? null : formatDateTime(dihapus_at)],
        ]}
      />
      {money.unanswered ? (
        <Unanswered money={money} />
      ) : (
        <>
          {money.fault && (
            <p role="alert" className={styles.fault}>
              {money.fault}
            </p>
          )}
          {offer.why && <p className={styles.why}>{offer.why}</p>}
          {offer.remove && (
            <div className={styles.pair}>
              <Button variant="danger" onClick={() => setStep('delete')}>
                Hapus
              </Button>
              {offer.refund > 0 && (
                <Button variant="secondary" onClick={() => setStep('refund')}>
                  Refund
                </Button>
              )}
            </div>
          )}
        </>
      )}
    </View>
  )
}

/** Refunds and deletions of this month, including this one: per customer who often gets money back, and per machine that often fails. */
function HowOften({ pelanggan, mesin }: MoneyBack['ke']) {
  return (
    <ul className={styles.often}>
      <li>{`Refund ke-${pelanggan} bulan ini untuk pelanggan ini`}</li>
      <li>{`Refund ke-${mesin} bulan ini untuk mesin ini`}</li>
    </ul>
  )
}
