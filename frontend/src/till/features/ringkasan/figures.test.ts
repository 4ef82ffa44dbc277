import { describe, expect, it } from 'vitest'
import type { MachineFigures, Summary } from '@/till/api/figure-calls'
import {
  changeText,
  countText,
  longTime,
  lostRupiah,
  partsOf,
  sentence,
  shortTime,
  splitMachines,
  thousands,
  ticksTo,
  usualCycles,
} from './figures'

const machine = (nama: string, more: Partial<MachineFigures> = {}): MachineFigures => ({
  idmesin: nama.length,
  nama,
  jenis: 'cuci',
  siklus: 9,
  pendapatan: 90_000,
  biasa: 9,
  menit_mati: 0,
  sejak_servis: 120,
  pita: [],
  ...more,
})

const summary = (more: Partial<Summary> = {}): Summary => ({
  dari: '2026-11-24',
  sampai: '2026-11-24',
  pendapatan: 1_352_000,
  pemakaian: 1_360_000,
  siklus: 109,
  per_mesin: [machine('Cuci 01')],
  per_hari: [],
  topup: { tunai: 0, qris: 0, transfer: 0, lain: 0 },
  topup_kali: { tunai: 0, qris: 0, transfer: 0, lain: 0 },
  saldo_beredar: 0,
  saldo: { lain: null, batas: 0, ingatkan: 0, perubahan: 0 },
  selisih_kas: 0,
  koin: null,
  batal: 0,
  refund: 0,
  kembali_sendiri: { jumlah: 0, kali: 0 },
  per_orang: [],
  menit_mati: 0,
  banding: {
    dari: '2026-11-17',
    sampai: '2026-11-17',
    hingga: '2026-11-17T17:00:00.000Z',
    pendapatan: 1_210_000,
    siklus: 100,
  },
  ...more,
})

describe('the sentence', () => {
  const banding = summary().banding
  it.each([
    [{}, 'Rp 142.000 lebih dari Selasa lalu, semua mesin bisa dipakai.'],
    [{ pendapatan: 1_000_000 }, 'Rp 210.000 kurang dari Selasa lalu, semua mesin bisa dipakai.'],
    [{ pendapatan: 1_210_000 }, 'Sama dengan Selasa lalu, semua mesin bisa dipakai.'],
    [
      { banding: { ...banding, pendapatan: 0, siklus: 0 } },
      'Rp 1.352.000, belum ada pembanding dari Selasa lalu, semua mesin bisa dipakai.',
    ],
    [
      { per_mesin: [machine('Cuci 01'), machine('Pengering 06', { menit_mati: 192 })] },
      'Rp 142.000 lebih dari Selasa lalu, Pengering 06 mati 3 jam 12 menit.',
    ],
    [
      {
        per_mesin: [machine('Cuci 08', { menit_mati: 1_440 }), machine('Pengering 06', { menit_mati: 180 })],
      },
      'Rp 142.000 lebih dari Selasa lalu, Cuci 08 mati 24 jam, 1 mesin lain juga mati.',
    ],
  ])('of %j', (more, text) => expect(sentence(summary(more as Partial<Summary>))).toBe(text))
})

it('puts what was down or hardly used first, the worst on top', () => {
  const machines = [
    machine('sehat'),
    machine('mati lama', { menit_mati: 640, siklus: 3 }),
    machine('jarang', { siklus: 4 }),
    machine('mati sebentar', { menit_mati: 29, siklus: 8 }),
    machine('ditutup', { menit_mati: 1_440, siklus: 0, pendapatan: 0 }),
    machine('baru', { biasa: null, siklus: 0 }),
    machine('sepi', { biasa: 2, siklus: 1 }),
  ]
  const { look, usual } = splitMachines(machines, true)
  expect(look.map(({ nama }) => nama)).toEqual(['ditutup', 'mati lama', 'jarang'])
  expect(usual.map(({ nama }) => nama)).toEqual(['sehat', 'mati sebentar', 'sepi', 'baru'])
  // A day that is not over may still become as usual.
  expect(splitMachines(machines, false).look.map(({ nama }) => nama)).toEqual(['ditutup', 'mati lama'])
  expect(usualCycles(machines)).toBeNull()
  expect(usualCycles(machines.filter(({ biasa }) => biasa !== null))).toBe(47)
  // 9 + 6 + 5 cycles of an average price of 540.000 / 25.
  expect(lostRupiah(machines)).toBe(432_000)
  expect(lostRupiah([])).toBe(0)
})

it('cuts bands to the day, and leaves out what is outside', () => {
  const start = Date.parse('2026-11-24T00:00:00Z')
  const band = (dari: string, sampai: string, keadaan: string) => ({ dari, sampai, keadaan })
  expect(
    partsOf(
      [
        band('2026-11-23T22:00:00Z', '2026-11-24T06:00:00Z', 'offline'),
        band('2026-11-24T12:00:00Z', '2026-11-25T03:00:00Z', 'ditutup'),
        band('2026-11-25T03:00:00Z', '2026-11-25T04:00:00Z', 'jalan'),
      ],
      start,
      start + 24 * 3_600_000,
    ),
  ).toEqual([
    { from: 0, until: 0.25, state: 'offline' },
    { from: 0.5, until: 1, state: 'ditutup' },
  ])
})

it('writes times, counts and amounts', () => {
  expect([0, 0.4, 15, 60, 640, 1_440].map(shortTime)).toEqual(['–', '–', '15 m', '1 j', '10 j 40 m', '24 j'])
  expect([15, 60, 192].map(longTime)).toEqual(['15 menit', '1 jam', '3 jam 12 menit'])
  expect([9, 9.5, 47.25].map(countText)).toEqual(['9', '9,5', '47,3'])
  expect([0, 500, 1_352_400, 12_345_678].map(thousands)).toEqual(['0', '0,5', '1.352,4', '12.345,7'])
  expect(changeText(111, 100)).toBe('+11%')
  expect(changeText(90, 100)).toBe('-10%')
  expect(changeText(100, 100)).toBe('0%')
  expect(changeText(100, 0)).toBeNull()
})

it.each([
  [0, [0, 1]],
  [1_352_000, [0, 500_000, 1_000_000, 1_500_000]],
  [90_000, [0, 50_000, 100_000]],
  [1, [0, 0.5, 1]],
])('lines up to %d', (largest, ticks) => expect(ticksTo(largest)).toEqual(ticks))
