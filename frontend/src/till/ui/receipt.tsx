import type { Ref } from 'react'
import { formatDateTime, rupiah, signedRupiah } from '@/shared/lib/text/format'
import type { Outlet } from '@/till/api/types'
import { methodName } from '@/till/lib/money/pay-method'
import styles from './receipt.module.css'

interface Parties {
  outlet: Outlet | null
  cashier: string
  customer: string
  number: string
  /** The balance afterwards; null where it is unknown, long after. */
  balance: number | null
}

export interface Receipt extends Parties {
  /** How a message begins, and the heading on paper. */
  name: string
  heading: string
  /** Names and values, the same on the screen, on paper and in WhatsApp. */
  lines: [string, string][]
}

export interface ToppedUp extends Parties {
  paid: number
  gained: number
  /** Null where it was not recorded. */
  method: string | null
  at: string
  /** The receipt was given before. */
  copy: boolean
}

export function topUpReceipt({ paid, gained, method, at, copy, ...parties }: ToppedUp): Receipt {
  return {
    ...parties,
    name: 'Top-up',
    heading: copy ? 'TOP-UP SALDO (SALINAN)' : 'TOP-UP SALDO',
    lines: [
      ['Isi saldo', signedRupiah(gained)],
      ['Dibayar', [method && methodName(method), rupiah(paid)].filter(Boolean).join(' ')],
      ['No Top-Up', parties.number],
      ['Waktu', formatDateTime(at)],
    ],
  }
}

/** `wa.me` with the receipt as its text: to the typed number, or to a contact that the cashier chooses. */
export function whatsAppAddress(receipt: Receipt, typed: string | null): string {
  const { name, outlet, customer, lines, balance } = receipt
  const text = [
    [name, outlet?.nama].filter(Boolean).join(' '),
    `Untuk ${customer}`,
    ...lines.map(([name, value]) => `${name}: ${value}`),
    ...(balance === null ? [] : [`Saldo: ${rupiah(balance)}`]),
  ].join('\n')
  const number = typed === null ? '' : typed.replace(/^(0|62)?/, '62')
  return `https://wa.me/${number}?text=${encodeURIComponent(text)}`
}

/** For paper only: 48 mm of print on a roll of 58. */
export function PrintedReceipt({ receipt, ref }: { receipt: Receipt; ref: Ref<HTMLDivElement> }) {
  const { outlet, cashier, customer, balance } = receipt
  const lines: [string, string][] = [
    ['Pelanggan', customer],
    ...receipt.lines,
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
      <p className={styles.title}>{receipt.heading}</p>
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
