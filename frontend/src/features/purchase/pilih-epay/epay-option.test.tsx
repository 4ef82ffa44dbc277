import { cleanup, render, screen } from '@testing-library/react'
import { afterEach, expect, it, vi } from 'vitest'
import type { AkunEpay } from '@/shared/api/model'
import { EpayOption } from './epay-option'

const AT = Date.parse('2026-11-20T11:05:00Z')

function show(jenis_emoney: number, balance = 20_000): void {
  const epay: AkunEpay = {
    idcustomer: 1,
    nama: 'Siti Rahmawati',
    owner_idowner: 1,
    outlet: {
      idoutlet: 1,
      nama: 'Melati',
      kota: 'Bandung',
      latitude: 0,
      longitude: 0,
      created_at: '2026-11-01T00:00:00Z',
    },
    quota_emoney: { saldo: balance, jenis_emoney, masa_aktif: AT, updated_at: '2026-11-01T00:00:00Z' },
  }
  render(<EpayOption epay={epay} price={15_000} onChoose={vi.fn()} />)
}

afterEach(cleanup)

it('says until when a balance that expires can be used', () => {
  show(1)
  expect(screen.getByText('Berlaku s.d. 20/11/2026')).toBeTruthy()
})

it('says no date for type 2, which never expires', () => {
  show(2)
  expect(screen.queryByText(/Berlaku/)).toBeNull()
})

it('says before the tap that the balance is too low', () => {
  show(2, 14_999)
  expect(screen.getByText('Saldo kurang')).toBeTruthy()
})
