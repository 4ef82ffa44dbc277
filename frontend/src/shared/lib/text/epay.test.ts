import { expect, it } from 'vitest'
import type { AkunEpay } from '@/shared/api/model'
import { expiresAt, isOnDashboard, isUsable } from './epay'

const NOW = 1_800_000_000_000

function account(balance: number, jenis_emoney: number, masa_aktif: number | null = null): AkunEpay {
  return {
    idcustomer: 1,
    nama: 'Siti Rahmawati',
    owner_idowner: 1,
    outlet: { idoutlet: 1, nama: 'Melati', kota: 'Bandung', latitude: 0, longitude: 0, created_at: '' },
    quota_emoney: { saldo: balance, jenis_emoney, masa_aktif, updated_at: '' },
  }
}

it('type 2 never expires', () => {
  expect(isUsable(account(1, 2), NOW)).toBe(true)
  expect(isUsable(account(1, 2, NOW - 1), NOW)).toBe(true)
})

it('tells when a balance expires, if it does', () => {
  expect(expiresAt(account(1, 1, NOW))).toBe(NOW)
  expect(expiresAt(account(1, 2, NOW))).toBeNull()
})

it('other types are usable up to their expiry', () => {
  expect(isUsable(account(1, 1, NOW), NOW)).toBe(true)
  expect(isUsable(account(1, 1, NOW - 1), NOW)).toBe(false)
  expect(isUsable(account(1, 1, null), NOW)).toBe(false)
})

it('nothing without balance, outlet or quota is usable', () => {
  expect(isUsable(account(0, 2), NOW)).toBe(false)
  expect(isUsable({ ...account(1, 2), outlet: null }, NOW)).toBe(false)
  expect(isUsable({ ...account(1, 2), quota_emoney: null }, NOW)).toBe(false)
})

it('the dashboard shows the usable ones and type 2 at zero, nothing else', () => {
  expect(isOnDashboard(account(5, 2), NOW)).toBe(true)
  expect(isOnDashboard(account(0, 2), NOW)).toBe(true)
  expect(isOnDashboard(account(0, 1, NOW + 1), NOW)).toBe(false)
  expect(isOnDashboard(account(5, 1, NOW - 1), NOW)).toBe(false)
  expect(isOnDashboard({ ...account(0, 2), outlet: null }, NOW)).toBe(false)
})
