import type { RefundDetail, SnapHistoryDetail, TopUpDetail, VoidDetail } from '@/shared/api/model'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { formatDateTime, rupiah, wholeMinutes } from '@/shared/lib/format'
import type { Detail } from './calls'
import { voided } from './voided-copy'

const copy = added.history

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
    case 'void':
      return ofVoid(detail.data)
    case 'refund':
      return ofRefund(detail.data)
  }
}

const place = (name: string, city: string) => (city ? `${name} - ${city}` : name)

/** The receipt of a purchase, or of its deletion: then the price came back. */
function ofUse(detail: SnapHistoryDetail): Receipt {
  const [use] = detail.snap_transaksi_detail
  return {
    total: { label: spec.servicePrice, value: detail.isDelete ? detail.grandtotal : -detail.grandtotal },
    lines: [
      [spec.receiptNumber, detail.id],
      [added.receipt.date, formatDateTime(detail.created_at)],
      ...(use
        ? ([
            [added.receipt.machine, use.snap_mesin.nama],
            [added.receipt.service, use.snap_layanan.nama],
            [added.receipt.duration, added.receipt.minutes(wholeMinutes(use.durasi))],
          ] satisfies Receipt['lines'])
        : []),
      [added.receipt.outlet, place(detail.outlet.nama, detail.outlet.kota)],
    ],
  }
}

const ofTopUp = (detail: TopUpDetail): Receipt => ({
  total: { label: copy.balanceAdded, value: detail.quota },
  lines: [
    [copy.topUpNumber, detail.idpembelian_emoney],
    [added.receipt.date, formatDateTime(detail.created_at)],
    [copy.packageName, detail.nama_paket],
    [added.receipt.outlet, place(detail.nama_outlet, detail.kota)],
    [copy.packagePrice, rupiah(detail.harga_paket)],
    [copy.closingBalance, rupiah(detail.saldo_akhir)],
  ],
})

/** The receipt of a top-up that staff reversed. */
const ofVoid = (detail: VoidDetail): Receipt => ({
  total: { label: voided.taken, value: -detail.nominal_batal },
  lines: [
    [copy.topUpNumber, detail.idpembelian_emoney],
    [voided.time, formatDateTime(detail.waktu_batal)],
    [added.receipt.outlet, place(detail.outlet.nama, detail.outlet.kota)],
    [voided.reason, detail.alasan],
  ],
})

const ofRefund = (detail: RefundDetail): Receipt => ({
  total: { label: spec.balanceAdded, value: detail.nominal_refund },
  lines: [
    [spec.receiptNumber, detail.idtransaksi],
    [copy.refundTime, formatDateTime(detail.waktu_refund)],
  ],
})
