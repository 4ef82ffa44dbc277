import { rupiah } from '@/shared/lib/text/format'
import type { PayMethod } from '@/till/api/types'

/** In the order of the screen. */
export const PAY_METHODS: PayMethod[] = ['tunai', 'qris', 'transfer']

const NAMES: Record<string, string> = { tunai: 'Tunai', qris: 'QRIS', transfer: 'Transfer' }

export const methodName = (method: string): string => NAMES[method] ?? method

/** How the customer gets the money of a top-up that was reversed. Only cash sales move the drawer, and QRIS is returned by hand. */
export function moneyBack(method: string, paid: number): string {
  const back = `Kembalikan ${rupiah(paid).replace(' ', '\u00a0')}`
  switch (method) {
    case 'tunai':
      return `${back} tunai dari laci kepada pelanggan.`
    case 'qris':
      return `Uang QRIS tetap di rekening outlet. ${back} kepada pelanggan, tunai atau lewat transfer. Kalau tunai dari laci, catat di Shift sebagai uang keluar.`
    default:
      return `${back} lewat ${methodName(method).toLowerCase()} kepada pelanggan.`
  }
}
