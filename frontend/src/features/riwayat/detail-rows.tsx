import type { ReactNode } from 'react'
import type { RefundDetail, SnapHistoryDetail, TopUpDetail, VoidDetail } from '@/shared/api/model'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { voided } from '@/shared/copy/voided'
import { formatDateTime, rupiah, signedRupiah, wholeMinutes } from '@/shared/lib/format'
import styles from './riwayat-page.module.css'

const copy = added.history

function Row({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className={styles.row}>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** The line that moved money: sign and colour. */
function Total({ label, value }: { label: string; value: number }) {
  return (
    <div className={`${styles.row} ${styles.total}`}>
      <dt>{label}</dt>
      <dd className={`digits ${value < 0 ? styles.out : styles.in}`}>{signedRupiah(value)}</dd>
    </div>
  )
}

const place = (name: string, city: string) => (city ? `${name} - ${city}` : name)

/** A use, or its deletion: then the price came back. */
export function SnapRows({ detail }: { detail: SnapHistoryDetail }) {
  const [use] = detail.snap_transaksi_detail
  return (
    <>
      <Row label={spec.receiptNumber}>{detail.id}</Row>
      <Row label={added.receipt.date}>{formatDateTime(detail.created_at)}</Row>
      {use && (
        <>
          <Row label={added.receipt.machine}>{use.snap_mesin.nama}</Row>
          <Row label={added.receipt.service}>{use.snap_layanan.nama}</Row>
          <Row label={added.receipt.duration}>{added.receipt.minutes(wholeMinutes(use.durasi))}</Row>
        </>
      )}
      <Row label={added.receipt.outlet}>{place(detail.outlet.nama, detail.outlet.kota)}</Row>
      <Total label={spec.servicePrice} value={detail.isDelete ? detail.grandtotal : -detail.grandtotal} />
    </>
  )
}

export function TopUpRows({ detail }: { detail: TopUpDetail }) {
  return (
    <>
      <Row label={copy.topUpNumber}>{detail.idpembelian_emoney}</Row>
      <Row label={added.receipt.date}>{formatDateTime(detail.created_at)}</Row>
      <Row label={copy.packageName}>{detail.nama_paket}</Row>
      <Row label={added.receipt.outlet}>{place(detail.nama_outlet, detail.kota)}</Row>
      <Row label={copy.packagePrice}>{rupiah(detail.harga_paket)}</Row>
      <Row label={copy.closingBalance}>{rupiah(detail.saldo_akhir)}</Row>
      <Total label={copy.balanceAdded} value={detail.quota} />
    </>
  )
}

/** Of a top-up that staff took back. */
export function VoidRows({ detail }: { detail: VoidDetail }) {
  return (
    <>
      <Row label={copy.topUpNumber}>{detail.idpembelian_emoney}</Row>
      <Row label={voided.time}>{formatDateTime(detail.waktu_batal)}</Row>
      <Row label={added.receipt.outlet}>{place(detail.outlet.nama, detail.outlet.kota)}</Row>
      <Row label={voided.reason}>{detail.alasan}</Row>
      <Total label={voided.taken} value={-detail.nominal_batal} />
    </>
  )
}

export function RefundRows({ detail }: { detail: RefundDetail }) {
  return (
    <>
      <Row label={spec.receiptNumber}>{detail.idtransaksi}</Row>
      <Row label={copy.refundTime}>{formatDateTime(detail.waktu_refund)}</Row>
      <Total label={spec.balanceAdded} value={detail.nominal_refund} />
    </>
  )
}
