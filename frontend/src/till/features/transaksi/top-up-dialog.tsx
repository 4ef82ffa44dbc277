import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Undo2 } from 'lucide-react'
import { useState } from 'react'
import { formatDateTime, formatLeft, rupiah, signedRupiah } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import { Dialog } from '@/shared/ui/dialog'
import { Failed } from '@/shared/ui/failed'
import { Spinner } from '@/shared/ui/spinner'
import { getTopUp } from '@/till/api/calls'
import { keys } from '@/till/api/keys'
import { hasAmounts, type ListedTopUp, type TopUpReversed, type TopUpRow } from '@/till/api/types'
import { reversalOffer } from '@/till/lib/money/offers'
import { methodName, moneyBack } from '@/till/lib/money/pay-method'
import { useMoney } from '@/till/lib/money/use-money'
import { useServerNow } from '@/till/lib/page/clock'
import { patchRow } from '@/till/lib/page/use-pages'
import { useSession } from '@/till/lib/session/session'
import { useDevice } from '@/till/lib/session/use-device'
import { useShift } from '@/till/lib/shift/use-shift'
import { GiveReceipt } from '@/till/ui/give-receipt'
import { topUpReceipt } from '@/till/ui/receipt'
import { ReverseTopUp, reversalSubject } from '@/till/ui/reverse-top-up'
import { Rows } from '@/till/ui/rows'
import { Unanswered } from '@/till/ui/unanswered'
import { View } from '@/till/ui/view'
import styles from './dialog.module.css'

interface Props {
  row: ListedTopUp | null
  onClose: () => void
}

/** One top-up, and its reversal while that is possible. */
export function TopUpDialog({ row, onClose }: Props) {
  return (
    <Dialog open={row !== null} onClose={onClose} title={row ? `Isi saldo ${row.nama}` : ''}>
      {row && <Opened row={row} onClose={onClose} />}
    </Dialog>
  )
}

/** Requests the amounts that the list leaves out: once, because the server counts each look. */
function Opened({ row, onClose }: { row: ListedTopUp; onClose: () => void }) {
  const [asks] = useState(!hasAmounts(row))
  const query = useQuery({
    queryKey: keys.topUp(row.idpembelian_emoney),
    queryFn: ({ signal }) => getTopUp(row.idpembelian_emoney, signal),
    enabled: asks,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (hasAmounts(row)) return <TopUp row={row} onClose={onClose} />
  if (query.data) {
    const { nominal, quota, nama_paket } = query.data
    return <TopUp row={{ ...row, nominal, quota, nama_paket }} onClose={onClose} />
  }
  if (query.isError) {
    return <Failed error={query.error} pending={query.isFetching} onRetry={() => void query.refetch()} />
  }
  return <Spinner large />
}

function TopUp({ row, onClose }: { row: TopUpRow; onClose: () => void }) {
  const { idpembelian_emoney: id, nominal, quota, nama, cara_bayar, batal_at, batal_oleh } = row
  const client = useQueryClient()
  const role = useSession(({ session }) => session?.petugas.role) ?? 'kasir'
  const shiftOpen = useShift().data?.shift != null
  const now = useServerNow()
  const outlet = useDevice().data?.outlet ?? null
  const [deciding, setDeciding] = useState(false)
  const [reversed, setReversed] = useState<TopUpReversed | null>(null)
  const money = useMoney<TopUpReversed>(reversalSubject(id), {
    onDone: (answer) => {
      setReversed(answer)
      patchRow<ListedTopUp>(
        client,
        keys.topUpPages,
        (one) => one.idpembelian_emoney === id,
        (one) => ({ ...one, batal_at: new Date(now).toISOString() }),
      )
      for (const queryKey of [keys.newestTopUps, keys.shift]) void client.invalidateQueries({ queryKey })
    },
    onRefused: () => void client.invalidateQueries({ queryKey: keys.topUps }),
  })

  if (reversed) {
    return (
      <View label="Hasil">
        <p role="status" className={styles.done}>
          <span>{`Top-up dibatalkan. Saldo ${nama} sekarang`}</span>{' '}
          <strong className="digits">{rupiah(reversed.saldo_akhir)}</strong>
          <span>.</span>
        </p>
        {cara_bayar !== null && <p>{moneyBack(cara_bayar, nominal)}</p>}
        <Button onClick={onClose}>Selesai</Button>
      </View>
    )
  }
  const offer = reversalOffer(row, { role, shiftOpen, now })
  if (deciding && (offer.is === 'offered' || money.pending)) {
    return <ReverseTopUp id={id} quota={quota} nama={nama} money={money} />
  }
  return (
    <View label="Rincian">
      <Rows
        rows={[
          ['Isi saldo', signedRupiah(quota)],
          ['Dibayar', cara_bayar === null ? rupiah(nominal) : `${methodName(cara_bayar)} ${rupiah(nominal)}`],
          ['Paket', quota === nominal ? null : row.nama_paket],
          ['No Top-Up', id],
          ['Waktu', formatDateTime(row.created_at)],
          ['Petugas', row.petugas],
          ['Dibatalkan', batal_at === null ? null : formatDateTime(batal_at)],
          ['Oleh', batal_oleh],
        ]}
      />
      {batal_at === null && (
        <GiveReceipt
          receipt={topUpReceipt({
            outlet,
            cashier: row.petugas ?? '',
            customer: nama,
            paid: nominal,
            gained: quota,
            method: cara_bayar,
            number: id,
            at: row.created_at,
            balance: null,
            copy: true,
          })}
          typed={null}
        />
      )}
      {money.unanswered ? (
        <Unanswered money={money} />
      ) : (
        <>
          {money.fault && (
            <p role="alert" className={styles.fault}>
              {money.fault}
            </p>
          )}
          {offer.is === 'refused' && <p className={styles.why}>{offer.why}</p>}
          {offer.is === 'offered' && (
            <div className={styles.undo}>
              {offer.left_ms !== null && (
                <p className={styles.why}>
                  Sisa waktu{' '}
                  <span className="digits" translate="no">
                    {formatLeft(offer.left_ms)}
                  </span>
                </p>
              )}
              <Button
                variant="danger"
                icon={<Undo2 size={20} aria-hidden />}
                onClick={() => setDeciding(true)}
              >
                Batalkan
              </Button>
            </div>
          )}
        </>
      )}
    </View>
  )
}
