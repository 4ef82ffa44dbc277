import type { Page } from '@playwright/test'
import { writeQr } from '../support/qr.ts'
import type { Screen } from './open.ts'
import {
  BILL,
  KEPT_BILL,
  MINUTE,
  moneyHistory,
  NOW,
  PAID,
  PENDING_MOVE,
  QRIS_OUTLET,
  QRIS_OUTLETS,
  TELP,
} from './people.ts'
import { Refusal, type Schemas, SILENT } from './server.ts'

const press = (name: string | RegExp) => (page: Page) => page.getByRole('button', { name }).first().click()

const bill = (more: Partial<Schemas['Tagihan']>) => ({ 'epayment/tagihan': { ...BILL, ...more } })
const withQr = async (more: Partial<Schemas['Tagihan']> = {}) =>
  bill({ png: await writeQr('00020101021226stage'), ...more })

const QRIS = 'Isi dengan QRIS'
const offered = { 'epayment/qris': [QRIS_OUTLET] }

async function ask(page: Page): Promise<void> {
  await press(QRIS)(page)
  await press('Rp 50.000')(page)
  // By keyboard: while the time stands still, a tap where the sheet was opened counts as its second tap.
  await page.getByRole('button', { name: /^Tampilkan QRIS/ }).press('Enter')
}

const open = await withQr()

const topUp: Screen[] = [
  { name: 'top-up-qris-ada', path: '/topUpPage', answers: offered, shows: QRIS, action: QRIS },
  {
    name: 'top-up-qris-pilih',
    path: '/topUpPage',
    answers: { 'epayment/qris': QRIS_OUTLETS },
    async act(page) {
      await press(QRIS)(page)
      await press(/Laundry Melati/)(page)
      await press(/Paket Hemat/)(page)
    },
    shows: 'Tampilkan QRIS Rp 100.000',
    action: /Tampilkan QRIS/,
  },
  {
    name: 'top-up-qris',
    path: '/topUpPage',
    answers: { ...offered, ...open },
    act: ask,
    shows: 'Menunggu pembayaran',
    action: 'Simpan gambar',
  },
  {
    name: 'top-up-qris-bank',
    path: '/topUpPage',
    local: KEPT_BILL,
    answers: { ...offered, ...(await withQr({ deeplink: 'https://bank.example/pay' })) },
    shows: 'Menunggu kabar bank',
    action: 'Simpan gambar',
  },
  {
    name: 'top-up-qris-menyiapkan',
    path: '/topUpPage',
    local: KEPT_BILL,
    answers: { 'epayment/tagihan': SILENT },
    shows: 'Menyiapkan QRIS…',
  },
  {
    name: 'top-up-qris-tanpa-jawaban',
    path: '/topUpPage',
    local: KEPT_BILL,
    answers: { 'epayment/tagihan': new Refusal(429, 'Tunggu 7 detik lagi.') },
    shows: 'Belum ada jawaban',
  },
  {
    name: 'top-up-qris-habis',
    path: '/topUpPage',
    local: KEPT_BILL,
    answers: bill({ status: 'kedaluwarsa', kedaluwarsa_at: new Date(NOW - MINUTE).toISOString() }),
    shows: 'Waktu bayar sudah habis',
    action: 'Tutup',
  },
  {
    name: 'top-up-qris-tertahan',
    path: '/topUpPage',
    local: KEPT_BILL,
    answers: bill({ status: 'tertahan' }),
    shows: /saldo belum masuk/,
    action: 'Tutup',
  },
]

const entry =
  (name: string) =>
  (page: Page): Promise<void> =>
    page.getByRole('main').getByRole('listitem').filter({ hasText: name }).getByRole('button').click()

const SHARE = 'Bagikan struk'
const money = { 'transaksi/list_history': moneyHistory }
const detail = (name: string, title: string): Screen => ({
  name: `riwayat-detail-${name}`,
  path: '/riwayatPage',
  answers: money,
  act: entry(title),
  shows: SHARE,
  action: SHARE,
})

const openUse = (page: Page) =>
  page
    .getByRole('main')
    .getByRole('listitem')
    .filter({ hasText: 'Transaksi' })
    .first()
    .getByRole('button')
    .click()
const reported = (keluhan: Schemas['Keluhan']) => ({
  'transaksi/get_detail_snap_transaksi': { ...PAID, keluhan },
})
const waits = { status: 'terbuka', alasan: 'hasil', catatan: null, nominal: null, jawaban: null } as const

const past: Screen[] = [
  { name: 'riwayat-uang', path: '/riwayatPage', answers: money, shows: 'Penarikan Saldo' },
  detail('penarikan', 'Penarikan Saldo'),
  detail('hangus', 'Saldo Hangus'),
  detail('pindah', '+Rp 40.000'),
  detail('saldo-awal', 'Saldo Awal'),
  {
    name: 'riwayat-masalah',
    path: '/riwayatPage',
    async act(page) {
      await openUse(page)
      await press('Ada masalah')(page)
      await press('Berhenti di tengah')(page)
      await page.getByRole('textbox').fill('Mesin mati saat membilas, cucian masih basah.')
    },
    shows: 'Apa yang terjadi?',
    action: 'Kirim laporan',
  },
  {
    name: 'riwayat-masalah-menunggu',
    path: '/riwayatPage',
    answers: reported({ ...waits, catatan: 'Masih ada busa.', dijawab_at: null }),
    act: openUse,
    shows: 'Menunggu jawaban',
  },
  {
    name: 'riwayat-masalah-diterima',
    path: '/riwayatPage',
    answers: reported({
      ...waits,
      status: 'diterima',
      alasan: 'berhenti',
      nominal: 15_000,
      jawaban: 'Maaf, mesin sudah diperbaiki.',
      dijawab_at: '2026-11-22T16:01:00+07:00',
    }),
    act: openUse,
    shows: 'Diterima',
  },
  {
    name: 'riwayat-masalah-ditolak',
    path: '/riwayatPage',
    answers: reported({
      ...waits,
      status: 'ditolak',
      jawaban: 'Putaran berjalan penuh 35 menit.',
      dijawab_at: '2026-11-22T16:01:00+07:00',
    }),
    act: openUse,
    shows: 'Ditolak',
  },
]

const NEW_TELP = '81234562211'
const draft = (otp_lama: string | null) => ({
  'nyala.pribadi.secret.move': {
    value: { telp: NEW_TELP, password: 'Rahasia123', otp_lama },
    until: NOW + MINUTE,
  },
  'nyala.kode': { [`move:${TELP}`]: NOW - 12_000, [`move:${NEW_TELP}`]: NOW - 12_000 },
})

const account: Screen[] = [
  {
    name: 'akun-pindah',
    path: '/akun',
    async act(page) {
      await press(/^Nomor WhatsApp/)(page)
      await press('Pindah ke nomor baru')(page)
    },
    shows: 'Kirim kode ke dua nomor',
    action: 'Kirim kode ke dua nomor',
  },
  { name: 'akun-pindah-kode-lama', path: '/akun', session: draft(null), shows: 'Kode di nomor lama' },
  { name: 'akun-pindah-kode-baru', path: '/akun', session: draft('482913'), shows: 'Kode di nomor baru' },
  {
    name: 'akun-hapus',
    path: '/akun',
    act: press(/^Hapus akun/),
    shows: /^Saya melepas saldo Rp 94\.000/,
    action: 'Hapus akun sekarang',
  },
  { name: 'privasi', path: '/privasi', public: true, shows: 'Yang disimpan' },
  {
    name: 'beranda-pindah',
    path: '/dashboard',
    answers: { 'akun/pindah': PENDING_MOVE },
    shows: 'Bukan saya',
  },
  {
    name: 'beranda-pindah-tolak',
    path: '/dashboard',
    answers: { 'akun/pindah': PENDING_MOVE },
    act: press('Bukan saya'),
    shows: 'Tolak pindah nomor?',
    action: 'Kembali',
  },
]

/** Money that comes in by QRIS, goes out, moves, and comes back; and a customer's own data. */
export const screensMoney: Screen[] = [...topUp, ...past, ...account]
