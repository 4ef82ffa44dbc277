import type { Page } from '@playwright/test'
import type { Screen } from './open.ts'
import {
  DAGO_ACCOUNT,
  dashboard,
  history,
  LATE_RUN,
  LEFT,
  LONG_RUN,
  MELATI_ACCOUNT,
  MINUTE,
  NOW,
  SHORT_RUN,
  WAITING,
} from './people.ts'
import { Refusal, SILENT } from './server.ts'
import { later } from './still.ts'

const shown = (list: Parameters<typeof dashboard>[0], left?: Parameters<typeof dashboard>[1]) => ({
  'dashboard/get_dashboard': dashboard(list, left),
})
const running = shown([LONG_RUN, SHORT_RUN])
const message = (jenis: string, judul: string, isi?: string) => ({ 'nyala.pesan': { jenis, judul, isi } })
const press = (name: string | RegExp) => (page: Page) => page.getByRole('button', { name }).first().click()

const SCAN = 'Scan mesin'
const RECONNECTING = 'Menyambungkan kembali…'
const NO_ANSWER = new Refusal(429, 'Sistem Sedang Sibuk, Coba Lagi!')

/** The dashboard. */
const home: Screen[] = [
  { name: 'beranda', path: '/dashboard', answers: running, shows: '00:48', action: SCAN },
  { name: 'beranda-satu', path: '/dashboard', answers: shown([LONG_RUN]), shows: '24:07', action: SCAN },
  { name: 'beranda-sepi', path: '/dashboard', shows: 'Cuci lagi: Cuci Reguler', action: SCAN },
  {
    name: 'beranda-tanpa-saldo',
    path: '/dashboard',
    answers: { 'dashboard/get_user_epayment_by_id_customer_global': [], 'transaksi/terakhir': null },
    shows: 'Belum ada saldo E-Pay',
    action: SCAN,
  },
  { name: 'beranda-menunggu', path: '/dashboard', answers: shown([WAITING]), shows: 'Menunggu mesin' },
  {
    name: 'beranda-berakhir',
    path: '/dashboard',
    answers: shown([LONG_RUN]),
    async act(page, socket) {
      await page.getByText('24:07').waitFor()
      socket.emit('heartbeat/3', { tl: 0, ends_at: NOW, server_time: NOW })
    },
    shows: 'sejak 16.05',
  },
  {
    name: 'beranda-selesai',
    path: '/dashboard',
    answers: shown([WAITING], [LEFT]),
    shows: 'Sudah saya ambil',
  },
  {
    name: 'beranda-diambil',
    path: '/dashboard',
    answers: shown([], [LEFT]),
    shows: 'Menunggu diambil',
    action: SCAN,
  },
  {
    name: 'beranda-mungkin-selesai',
    path: '/dashboard',
    answers: shown([LATE_RUN]),
    // The time that the app waits for the machine's last report.
    hurried: 3_000,
    async act(page, socket) {
      await page.getByText('00:00').waitFor()
      await socket.cut()
      await page.getByText(RECONNECTING).waitFor()
    },
    shows: 'Mungkin sudah selesai',
  },
  {
    name: 'beranda-menyambung',
    path: '/dashboard',
    answers: running,
    async act(page, socket) {
      await page.getByText('00:48').waitFor()
      await socket.cut()
    },
    shows: RECONNECTING,
    action: SCAN,
  },
  {
    name: 'beranda-lama',
    path: '/dashboard',
    answers: running,
    async act(page, _, answers) {
      await page.getByText('00:48').waitFor()
      answers['dashboard/get_dashboard'] = NO_ANSWER
      await page.getByRole('link', { name: 'Akun' }).click()
      await page.getByRole('heading', { name: 'Akun' }).waitFor()
      await page.getByRole('link', { name: 'Beranda' }).click()
    },
    shows: /^Data per/,
  },
  {
    name: 'beranda-luring',
    path: '/dashboard',
    answers: running,
    async act(page) {
      await page.getByText('00:48').waitFor()
      await page.context().setOffline(true)
    },
    shows: 'Tidak ada koneksi internet',
  },
  {
    name: 'beranda-memuat',
    path: '/dashboard',
    answers: {
      'dashboard/get_dashboard': SILENT,
      'dashboard/get_user_epayment_by_id_customer_global': SILENT,
    },
    shows: 'Memuat…',
    action: SCAN,
  },
  {
    name: 'beranda-gagal',
    path: '/dashboard',
    answers: { 'dashboard/get_dashboard': NO_ANSWER },
    shows: 'Data belum bisa dimuat',
  },
  { name: 'beranda-outlet', path: '/dashboard', act: press(/Info outlet/), shows: 'Lihat Lokasi' },
  {
    name: 'halaman-gagal',
    path: '/akun',
    lost: '**/assets/akun-page*.js',
    // A page reloads by itself once, and has already done so.
    session: { 'nyala.reloads': { '/akun': NOW } },
    shows: 'Halaman belum bisa dimuat',
  },
  { name: 'versi-baru', path: '/dashboard', update: true, shows: 'Versi baru', action: SCAN },
  {
    name: 'pesan-kabar',
    path: '/dashboard',
    session: message('info', 'Cucian selesai', 'Cuci 03 di Laundry Melati'),
    shows: 'Cucian selesai',
    action: SCAN,
  },
]

const SHARE = 'Bagikan struk'

const entry =
  (name: string, nth = 0) =>
  async (page: Page) =>
    page
      .getByRole('main')
      .getByRole('listitem')
      .filter({ hasText: name })
      .nth(nth)
      .getByRole('button')
      .click()

const past: Screen[] = [
  { name: 'riwayat', path: '/riwayatPage', shows: 'November 2026', action: SCAN },
  {
    name: 'riwayat-tersaring',
    path: '/riwayatPage?jenis=pembelian_emoney',
    answers: { 'transaksi/list_history': history('pembelian_emoney') },
    shows: 'November 2026',
  },
  {
    name: 'riwayat-kosong',
    path: '/riwayatPage',
    answers: { 'transaksi/list_history': { history_data: null, returned: 0, sampai: 'stage' } },
    shows: 'Belum ada transaksi',
  },
  {
    name: 'riwayat-memuat',
    path: '/riwayatPage',
    answers: { 'transaksi/list_history': SILENT },
    shows: 'Memuat…',
    action: SCAN,
  },
  {
    name: 'riwayat-gagal',
    path: '/riwayatPage',
    answers: { 'transaksi/list_history': NO_ANSWER },
    shows: NO_ANSWER.message,
  },
  {
    name: 'riwayat-lanjutan-gagal',
    path: '/riwayatPage',
    answers: {
      'transaksi/list_history': ({ skip, limit }) =>
        skip === 0 ? { ...history('pembelian_emoney'), returned: Number(limit) } : NO_ANSWER,
    },
    shows: 'Halaman berikutnya belum bisa dimuat',
    action: SCAN,
  },
  { name: 'riwayat-detail', path: '/riwayatPage', act: entry('Transaksi'), shows: SHARE, action: SHARE },
  {
    name: 'riwayat-detail-top-up',
    path: '/riwayatPage',
    act: entry('+Rp 50.000'),
    shows: SHARE,
    action: SHARE,
  },
  {
    name: 'riwayat-detail-pembatalan',
    path: '/riwayatPage',
    act: entry('Pembatalan'),
    shows: SHARE,
    action: SHARE,
  },
  {
    name: 'riwayat-detail-penghapusan',
    path: '/riwayatPage',
    act: entry('Penghapusan'),
    shows: SHARE,
    action: SHARE,
  },
  { name: 'riwayat-detail-refund', path: '/riwayatPage', act: entry('Refund'), shows: SHARE, action: SHARE },
]

async function fillPasswords(page: Page): Promise<void> {
  await press(/^Ubah Kata Sandi/)(page)
  await page.getByLabel('Kata Sandi Lama').fill('Rahasia123')
  await page.getByLabel('Kata Sandi Baru', { exact: true }).fill('Melati2026')
}

const wantPush = (page: Page) => page.getByRole('switch', { name: 'Pemberitahuan' }).click()

const account: Screen[] = [
  { name: 'akun', path: '/akun', shows: 'Siti Rahmawati', action: 'Keluar Aplikasi' },
  {
    name: 'akun-gagal',
    path: '/akun',
    answers: { 'dashboard/customer_global': NO_ANSWER },
    shows: 'Akun belum bisa dimuat',
    action: 'Keluar Aplikasi',
  },
  { name: 'akun-nomor', path: '/akun', act: press(/^Nomor WhatsApp/), shows: 'Mengerti', action: 'Mengerti' },
  { name: 'akun-nama', path: '/akun', act: press(/^Ubah nama/), shows: 'Ubah Nama', action: 'Simpan' },
  { name: 'akun-sandi', path: '/akun', act: fillPasswords, shows: 'Kata Sandi Lama', action: 'Simpan' },
  {
    name: 'akun-sandi-batal',
    path: '/akun',
    async act(page) {
      await fillPasswords(page)
      await press('Tutup')(page)
    },
    shows: /hilang|buang/i,
  },
  {
    name: 'akun-sandi-kode',
    path: '/akun',
    async act(page) {
      await fillPasswords(page)
      await page.getByLabel('Ulangi Kata Sandi Baru').fill('Melati2026')
      await press('Simpan')(page)
    },
    shows: 'Verifikasi Perubahan',
    action: 'Simpan',
  },
  {
    name: 'akun-pemberitahuan',
    path: '/akun',
    act: wantPush,
    shows: 'Kami beri tahu saat cucian selesai',
  },
  {
    name: 'akun-pemberitahuan-ditolak',
    path: '/akun',
    push: 'refused',
    act: wantPush,
    shows: 'Izinkan pemberitahuan di setelan browser.',
  },
  {
    name: 'akun-pemberitahuan-layar-utama',
    path: '/akun',
    push: 'homeScreenFirst',
    act: wantPush,
    shows: 'Tambahkan Nyala ke Layar Utama dulu.',
  },
  {
    name: 'pesan-berhasil',
    path: '/akun',
    session: message('sukses', 'Nama Berhasil Di Ubah'),
    shows: 'Nama Berhasil Di Ubah',
  },
]

const AFTER = { jenis_emoney: 2, masa_aktif: null, saldo: 135_000, updated_at: new Date(NOW).toISOString() }
const AFTER_TOP_UP = [{ ...MELATI_ACCOUNT, quota_emoney: AFTER }, DAGO_ACCOUNT]

const topUp: Screen[] = [
  { name: 'top-up', path: '/topUpPage', shows: '0851 9136 3216' },
  {
    name: 'top-up-gagal',
    path: '/topUpPage',
    answers: { 'transaksi/get_qrcode': NO_ANSWER },
    shows: 'Kode QR belum bisa dimuat',
  },
  {
    name: 'top-up-kedaluwarsa',
    path: '/topUpPage',
    async act(page, _, answers) {
      await page.getByAltText('Kode QR Anda').waitFor()
      answers['transaksi/get_qrcode'] = NO_ANSWER
      await later(page, 6 * MINUTE)
      await press('Kembali')(page)
      await page.getByRole('link', { name: 'Top Up' }).click()
    },
    shows: 'Kode sudah kedaluwarsa',
  },
  {
    name: 'top-up-masuk',
    path: '/topUpPage',
    async act(page, socket, answers) {
      await page.getByText('0851 9136 3216').waitFor()
      answers['dashboard/get_user_epayment_by_id_customer_global'] = AFTER_TOP_UP
      socket.emit('saldo', { idcustomer: MELATI_ACCOUNT.idcustomer, saldo: AFTER.saldo, sebab: 'topup' })
    },
    shows: 'Saldo masuk',
  },
]

/** The screens after the login, except those of a purchase. */
export const screensHome: Screen[] = [...home, ...past, ...account, ...topUp]
