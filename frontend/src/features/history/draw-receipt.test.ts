import { expect, it } from 'vitest'
import { receiptText } from './draw-receipt'

it('says in words what the picture shows, the money first and with its sign', () => {
  const receipt = {
    total: { label: 'Harga Layanan', value: -15_000 },
    lines: [
      ['No Nota', 'SLF261120180530123'],
      ['Mesin', 'Cuci 03'],
    ] as [string, string][],
  }
  expect(receiptText('Transaksi', receipt)).toBe(
    ['Nyala - Transaksi', 'Harga Layanan: -Rp 15.000', 'No Nota: SLF261120180530123', 'Mesin: Cuci 03'].join(
      '\n',
    ),
  )
})
