import { expect, it } from 'vitest'
import type { AkunEpay } from '@/shared/api/model'
import { dapatDipakai, kedaluwarsaPada, tampilDiDashboard } from './epay'

const NOW = 1_800_000_000_000

function akun(saldo: number, jenis_emoney: number, masa_aktif: number | null = null): AkunEpay {
  return {
    idcustomer: 1,
    nama: 'Siti Rahmawati',
    owner_idowner: 1,
    outlet: { idoutlet: 1, nama: 'Melati', kota: 'Bandung', latitude: 0, longitude: 0, created_at: '' },
    quota_emoney: { saldo, jenis_emoney, masa_aktif, updated_at: '' },
  }
}

it('type 2 never expires', () => {
  expect(dapatDipakai(akun(1, 2), NOW)).toBe(true)
  expect(dapatDipakai(akun(1, 2, NOW - 1), NOW)).toBe(true)
})

it('tells when a balance expires, if it does', () => {
  expect(kedaluwarsaPada(akun(1, 1, NOW))).toBe(NOW)
  expect(kedaluwarsaPada(akun(1, 2, NOW))).toBeNull()
})

it('other types are usable up to their expiry', () => {
  expect(dapatDipakai(akun(1, 1, NOW), NOW)).toBe(true)
  expect(dapatDipakai(akun(1, 1, NOW - 1), NOW)).toBe(false)
  expect(dapatDipakai(akun(1, 1, null), NOW)).toBe(false)
})

it('nothing without balance, outlet or quota is usable', () => {
  expect(dapatDipakai(akun(0, 2), NOW)).toBe(false)
  expect(dapatDipakai({ ...akun(1, 2), outlet: null }, NOW)).toBe(false)
  expect(dapatDipakai({ ...akun(1, 2), quota_emoney: null }, NOW)).toBe(false)
})

it('the dashboard shows the usable ones and type 2 at zero, nothing else', () => {
  expect(tampilDiDashboard(akun(5, 2), NOW)).toBe(true)
  expect(tampilDiDashboard(akun(0, 2), NOW)).toBe(true)
  expect(tampilDiDashboard(akun(0, 1, NOW + 1), NOW)).toBe(false)
  expect(tampilDiDashboard(akun(5, 1, NOW - 1), NOW)).toBe(false)
  expect(tampilDiDashboard({ ...akun(0, 2), outlet: null }, NOW)).toBe(false)
})
