import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { formatDateTime, rupiah } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import { Dialog } from '@/shared/ui/dialog'
import { Failed } from '@/shared/ui/failed'
import { Spinner } from '@/shared/ui/spinner'
import { billKeys, getPayoutSums, type PaidOut, type PayoutSums, payoutOf } from '@/till/api/bill-calls'
import { keys } from '@/till/api/keys'
import type { FoundCustomer } from '@/till/api/types'
import { type Money, useMoney } from '@/till/lib/money/use-money'
import { mayApprove, useSession } from '@/till/lib/session/session'
import { useConnected } from '@/till/lib/session/use-connected'
import { useDevice } from '@/till/lib/session/use-device'
import { Approval } from '@/till/ui/approval'
import { GiveReceipt } from '@/till/ui/give-receipt'
import { Rows } from '@/till/ui/rows'
import { Unanswered } from '@/till/ui/unanswered'
import { View } from '@/till/ui/view'
import styles from './parts.module.css'
import { payout } from './parts-copy'

interface Props {
  customer: FoundCustomer
  qr: string
  onClose: () => void
  onPaid: () => void
}

/** Pays a customer's whole account out of the drawer. */
export function PayoutDialog({ customer, qr, onClose, onPaid }: Props) {
  const [paid, setPaid] = useState<PaidOut | null>(null)
  return (
    <Dialog open onClose={paid ? onPaid : onClose} title={payout.title}>
      {paid ? (
        <Done customer={customer} paid={paid} onDone={onPaid} />
      ) : (
        <Count customer={customer} qr={qr} onPaid={setPaid} />
      )}
    </Dialog>
  )
}

/** The server's sentence where something was bought or topped up since the count. */
const CHANGED = 'jumlah berubah, hitung lagi'

function Count({
  customer: { id_customer_global },
  qr,
  onPaid,
}: Pick<Props, 'customer' | 'qr'> & { onPaid: (paid: PaidOut) => void }) {
  const client = useQueryClient()
  const sums = useQuery({
    queryKey: billKeys.payout(qr),
    queryFn: ({ signal }) => getPayoutSums(qr, signal),
    retry: false,
    gcTime: 0,
    refetchOnWindowFocus: false,
  })
  const count = () => void sums.refetch()
  const money = useMoney<PaidOut>(`tarik:${id_customer_global}`, {
    onDone: (answer) => {
      void client.invalidateQueries({ queryKey: keys.shift })
      onPaid(answer)
    },
    onRefused: ({ message }) => {
      if (message === CHANGED) count()
    },
  })
  if (money.unanswered) return <Unanswered money={money} />
  if (sums.isError) return <Failed error={sums.error} pending={sums.isFetching} onRetry={count} />
  if (!sums.data) return <Spinner large />
  return <Pay sums={sums.data} qr={qr} money={money} />
}

function Pay({ sums, qr, money }: { sums: PayoutSums; qr: string; money: Money<PaidOut> }) {
  const { idcustomer, nama, saldo, dibayar, hangus } = sums
  const alone = useSession(({ session }) => session !== null && mayApprove(session.petugas.role))
  const connected = useConnected()
  const [asking, setAsking] = useState(false)
  const send = (izin?: string) => money.send(payout.what(dibayar, nama), payoutOf(qr, sums), izin)
  const says = payout.says(dibayar, hangus)
  if (asking) {
    return (
      <View label="Persetujuan">
        <Approval
          aksi="tarik"
          objek={`${idcustomer}:${dibayar}`}
          what={`${payout.what(dibayar, nama)} ${says}`}
          pending={money.pending}
          fault={money.fault}
          onApproved={send}
        />
      </View>
    )
  }
  return (
    <View label="Jumlah">
      <Rows
        rows={[
          [payout.balance, rupiah(saldo)],
          [payout.paid, rupiah(dibayar)],
          [payout.bonus, hangus > 0 ? rupiah(hangus) : null],
        ]}
      />
      <p className={styles.says}>
        <strong>{says}</strong> <span>{payout.ends(nama)}</span>
      </p>
      {money.fault && (
        <p role="alert" className={styles.fault}>
          {money.fault}
        </p>
      )}
      <Button
        pending={money.pending}
        disabled={!connected && !money.pending}
        onClick={() => (alone ? send() : setAsking(true))}
      >
        {payout.pay(dibayar)}
      </Button>
    </View>
  )
}

function Done({
  customer: { nama },
  paid,
  onDone,
}: {
  customer: FoundCustomer
  paid: PaidOut
  onDone: () => void
}) {
  const outlet = useDevice().data?.outlet ?? null
  const cashier = useSession(({ session }) => session?.petugas.nama) ?? ''
  const [at] = useState(() => new Date().toISOString())
  const { dibayar, hangus, idpenarikan, saldo_akhir } = paid
  return (
    <View label="Hasil">
      <p role="status" className={styles.says}>
        <strong>{payout.done(dibayar, nama)}</strong>
      </p>
      <GiveReceipt
        receipt={{
          name: payout.title,
          heading: payout.title.toUpperCase(),
          outlet,
          cashier,
          customer: nama,
          lines: [
            [payout.paid, rupiah(dibayar)],
            ...(hangus > 0 ? [[payout.bonus, rupiah(hangus)] satisfies [string, string]] : []),
            [payout.receipt, String(idpenarikan)],
            ['Waktu', formatDateTime(at)],
          ],
          number: String(idpenarikan),
          balance: saldo_akhir,
        }}
        typed={null}
      />
      <Button onClick={onDone}>{payout.finish}</Button>
    </View>
  )
}
