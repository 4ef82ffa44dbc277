import type {
  HistoryEntry,
  MoveDetail,
  OpeningDetail,
  PayoutDetail,
  RefundDetail,
  ReversalDetail,
  SnapHistoryDetail,
  TopUpDetail,
} from '@/shared/api/model'
import { copy } from '@/shared/copy/copy'
import { formatDateTime, rupiah, wholeMinutes } from '@/shared/lib/text/format'
import { balanceTexts } from './balance-copy'
import type { Detail } from './calls'
import { reversed } from './reversal-copy'

const texts = copy.history

/** A receipt as shown and shared: the money that moved, then the details line by line. */
export interface Receipt {
  total: { label: string; value: number }
  lines: [label: string, value: string][]
}

export function receiptOf(detail: Detail): Receipt {
  switch (detail.kind) {
    case 'snap':
      return ofUse(detail.data)
    case 'topUp':
      return ofTopUp(detail.data)
    case 'reversal':
      return ofReversal(detail.data)
    case 'refund':
      return ofRefund(detail.data)
    case 'payout':
      return ofPayout(detail.data)
    case 'balance':
      return ofBalance(detail.data)
    case 'move':
      return ofMove(detail.data, detail.value)
    case 'opening':
      return ofOpening(detail.data)
  }
}

const place = (name: string, city: string) => (city ? `${name} - ${city}` : name)

/** The receipt of a purchase, or of its deletion: then the price came back. */
function ofUse(detail: SnapHistoryDetail): Receipt {
  const [use] = detail.snap_transaksi_detail
  return {
    total: {
      label: copy.receipt.servicePrice,
      value: detail.isDelete ? detail.grandtotal : -detail.grandtotal,
    },
    lines: [
      [copy.receipt.number, detail.id],
      [copy.receipt.date, formatDateTime(detail.created_at)],
      ...(use
        ? ([
            [copy.receipt.machine, use.snap_mesin.nama],
            [copy.receipt.service, use.snap_layanan.nama],
            [copy.receipt.duration, copy.receipt.minutes(wholeMinutes(use.durasi))],
          ] satisfies Receipt['lines'])
        : []),
      [copy.receipt.outlet, place(detail.outlet.nama, detail.outlet.kota)],
    ],
  }
}

const ofTopUp = (detail: TopUpDetail): Receipt => ({
  total: { label: texts.balanceAdded, value: detail.quota },
  lines: [
    [texts.topUpNumber, detail.idpembelian_emoney],
    [copy.receipt.date, formatDateTime(detail.created_at)],
    [texts.packageName, detail.nama_paket],
    [copy.receipt.outlet, place(detail.nama_outlet, detail.kota)],
    [texts.packagePrice, rupiah(detail.harga_paket)],
    [texts.closingBalance, rupiah(detail.saldo_akhir)],
  ],
})

/** The receipt of a top-up that staff reversed. */
const ofReversal = (detail: ReversalDetail): Receipt => ({
  total: { label: reversed.taken, value: -detail.nominal_batal },
  lines: [
    [texts.topUpNumber, detail.idpembelian_emoney],
    [reversed.time, formatDateTime(detail.waktu_batal)],
    [copy.receipt.outlet, place(detail.outlet.nama, detail.outlet.kota)],
    [reversed.reason, detail.alasan],
  ],
})

const ofRefund = (detail: RefundDetail): Receipt => ({
  total: { label: copy.history.addition, value: detail.nominal_refund },
  lines: [
    [copy.receipt.number, detail.idtransaksi],
    [texts.refundTime, formatDateTime(detail.waktu_refund)],
  ],
})

/** The bonus that was lost with a payout is another entry of the history. */
const ofPayout = (detail: PayoutDetail): Receipt => ({
  total: { label: balanceTexts.out, value: -detail.dibayar },
  lines: [
    [balanceTexts.payoutNumber, String(detail.idpenarikan)],
    [copy.receipt.date, formatDateTime(detail.waktu)],
    [copy.receipt.outlet, place(detail.outlet.nama, detail.outlet.kota)],
    ...(detail.hangus > 0
      ? ([[balanceTexts.forfeited, rupiah(detail.hangus)]] satisfies Receipt['lines'])
      : []),
  ],
})

const ofBalance = ({ value, date, outlet }: HistoryEntry): Receipt => ({
  total: { label: value < 0 ? balanceTexts.out : texts.addition, value },
  lines: [
    [copy.receipt.date, formatDateTime(date)],
    [copy.receipt.outlet, outlet],
  ],
})

/** The numbers are masked: a shared receipt shows no telephone number. */
const ofMove = (detail: MoveDetail, value: number): Receipt => ({
  total: { label: value < 0 ? balanceTexts.out : texts.addition, value },
  lines: [
    [balanceTexts.moveNumber, String(detail.idpindah)],
    [copy.receipt.date, formatDateTime(detail.waktu)],
    [balanceTexts.from, detail.dari],
    [balanceTexts.to, detail.ke],
  ],
})

const ofOpening = (detail: OpeningDetail): Receipt => ({
  total: { label: texts.addition, value: detail.jumlah },
  lines: [
    [balanceTexts.openingNumber, String(detail.idsaldo_awal)],
    [copy.receipt.date, formatDateTime(detail.waktu)],
    [copy.receipt.outlet, place(detail.outlet.nama, detail.outlet.kota)],
  ],
})
