import type { Ref } from 'react'
import { formatDateTime, rupiah, signedRupiah } from '@/shared/lib/text/format'
import type { Outlet } from '@/till/api/types'
import styles from './receipt.module.css'

export interface Receipt {
  outlet: Outlet | null
  cashier: string
  customer: string
  paid: number
  gained: number
  method: string
  number: string
  at: string
  /** The balance afterwards; null where it is unknown, long after. */
  balance: number | null
  /** The receipt was given before. */
  copy: boolean
}

/** Names and values, the same on the screen, on paper and in WhatsApp. */
export function linesOf({ paid, gained, method, number, at }: Receipt): [string, string][] {
  return [
    ['Isi saldo', signedRupiah(gained)],
    ['Dibayar', [method, rupiah(paid)].filter(Boolean).join(' ')],
    ['No Top-Up', number],
    ['Waktu', formatDateTime(at)],
  ]
}

/** `wa.me` with the receipt as its text: to the typed number, or to a contact that the cashier chooses. */
export function whatsAppAddress(receipt: Receipt, typed: string | null): string {
  const { outlet, customer, balance } = receipt
  const text = [
    ['Top-up', outlet?.nama].filter(Boolean).join(' '),
    `Untuk ${customer}`,
    ...linesOf(receipt).map(([name, value]) => `${name}: ${value}`),
    ...(balance === null ? [] : [`Saldo: ${rupiah(balance)}`]),
  ].join('\n')
  const number = typed === null ? '' : typed.replace(/^(0|62)?/, '62')
  return `https://wa.me/${number}?text=${encodeURIComponent(text)}`
}

/** For paper only: 48 mm of print on a roll of 58. */
export function PrintedReceipt({ receipt, ref }: { receipt: Receipt; ref: Ref<HTMLDivElement> }) {
  const { outlet, cashier, customer, balance, copy } = receipt
  const lines: [string, string][] = [
    ['Pelanggan', customer],
    ...linesOf(receipt),
    ...(cashier ? [['Kasir', cashier] satisfies [string, string]] : []),
    ...(balance === null ? [] : [['Saldo', rupiah(balance)] satisfies [string, string]]),
  ]
  return (
    <div ref={ref} className={styles.paper} aria-hidden="true">
      {outlet && (
        <p className={styles.outlet}>
          <strong>{outlet.nama}</strong>
          <br />
          <span>{outlet.kota}</span>
        </p>
      )}
      <p className={styles.title}>{copy ? 'TOP-UP SALDO (SALINAN)' : 'TOP-UP SALDO'}</p>
      {lines.map(([name, value]) => (
        <p key={name} className={styles.line}>
          <span>{name}</span>
          <span className={styles.value}>{value}</span>
        </p>
      ))}
      <p className={styles.thanks}>Terima kasih</p>
    </div>
  )
}
