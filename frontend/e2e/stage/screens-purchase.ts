import type { Page } from '@playwright/test'
import type { Screen } from './open.ts'
import {
  DAGO_ACCOUNT,
  dashboard,
  EXPIRING_ACCOUNT,
  LONG_RUN,
  MACHINE,
  MELATI_ACCOUNT,
  MINUTE,
  manyServices,
  NOW,
  REGULAR,
  SECOND,
  services,
} from './people.ts'
import { type Answers, CUT, Refusal, type Schemas, SILENT } from './server.ts'
import { later } from './still.ts'

/** The camera's view: a machine with its sticker, and no readable code. */
const SEEN = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" width="480" height="640" viewBox="0 0 120 160"><rect width="120" height="160" fill="#3f4852"/><rect x="10" y="6" width="30" height="9" rx="3" fill="#1d242c"/><circle cx="60" cy="170" r="62" fill="#2a323b"/><circle cx="60" cy="170" r="46" fill="#1d242c"/><g transform="rotate(-4 60 70)"><rect x="36" y="40" width="48" height="60" rx="4" fill="#fff"/><rect x="42" y="46" width="36" height="36" fill="#d6dbe0"/><rect x="46" y="87" width="28" height="4" rx="2" fill="#8a939d"/></g></svg>')}`

const QR = 'NYM1.stage'
const chosen = (more: object = {}) => ({ 'nyala.pribadi.beli': { qr: QR, mesin: MACHINE, ...more } })
const toPay = chosen({ layanan: REGULAR, epay: MELATI_ACCOUNT })
const dear = { ...REGULAR, nama: 'Cuci Permadani Besar', harga: 1_250_000 }

/** The services of a machine in the given state. */
const found = (how: Partial<Schemas['DataMesin']> = {}): Answers => ({
  'transaksi/get_layanan': { data_mesin: { ...MACHINE, ...how }, data_layanan: services },
})

const inUse = found({ status: 'busy', tl: 12 * MINUTE, ends_at: NOW + 12 * MINUTE })

/** More than ten services, of which the server returns ten at most at a time. */
const searched: Answers = {
  'transaksi/get_layanan': ({ search, skip, limit }) => {
    const matching = manyServices.filter(({ nama }) =>
      nama.toLowerCase().includes(String(search).toLowerCase()),
    )
    return { data_mesin: MACHINE, data_layanan: matching.slice(Number(skip), Number(skip) + Number(limit)) }
  },
}
const search = (text: string) => (page: Page) => page.getByLabel('Cari layanan').fill(text)

async function typeCode(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Ketik kode' }).click()
  await page.getByLabel('Kode mesin', { exact: true }).fill('K7P29XQD')
}

async function enterCode(page: Page): Promise<void> {
  await typeCode(page)
  await page.keyboard.press('Enter')
}

const READER = '**/assets/*.wasm'
const washAgain = (page: Page) => page.getByRole('link', { name: 'Cuci lagi' }).click()

const PAY = 'Bayar & Nyalakan Mesin'
const pay = (page: Page) => page.getByRole('button', { name: PAY }).click()

const newPrice = (harga: number) =>
  new Refusal(409, 'harga layanan berubah', { idlayanan: REGULAR.id, harga, harga_sampai: null })

const RECEIPT = {
  nota: 'SLF261122160512408',
  customer: '7',
  made_ms: NOW - 6 * MINUTE,
  paid_ms: NOW - 5 * MINUTE,
  saldo: 85_000,
  body: {
    id: 'SLF261122160512408',
    idcustomer: MELATI_ACCOUNT.idcustomer,
    idmesin: MACHINE.id,
    idoutlet: MACHINE.outlet.idoutlet,
    idsnap_layanan: REGULAR.id,
    total: REGULAR.harga,
    grandtotal: REGULAR.harga,
  },
}

/** The screens from the scan to the running machine. */
export const screensPurchase: Screen[] = [
  { name: 'scan', path: '/scanPage', camera: SEEN, shows: 'Mencari kode QR…', action: 'Ketik kode' },
  { name: 'scan-tanpa-kamera', path: '/scanPage', shows: 'Kamera tidak ditemukan', action: 'Ketik kode' },
  {
    name: 'scan-kamera-ditolak',
    path: '/scanPage',
    camera: 'refused',
    shows: 'Kamera tidak diizinkan',
    action: 'Ketik kode',
  },
  {
    name: 'scan-kamera-dipakai',
    path: '/scanPage',
    camera: 'busy',
    shows: 'Kamera sedang dipakai aplikasi lain',
    action: 'Ketik kode',
  },
  {
    name: 'scan-tanpa-https',
    path: '/scanPage',
    camera: 'insecure',
    shows: 'Kamera butuh alamat https',
    action: 'Ketik kode',
  },
  {
    name: 'scan-pemindai-lambat',
    path: '/scanPage',
    camera: SEEN,
    held: READER,
    // After this time the scanner counts as slow.
    hurried: 5_000,
    shows: /^Koneksi lambat/,
    action: 'Ketik kode',
  },
  {
    name: 'scan-cuci-lagi',
    path: '/dashboard',
    camera: SEEN,
    async act(page) {
      await washAgain(page)
      await page.getByText('Petunjuk penggunaan').waitFor()
    },
    shows: 'Cuci lagi: Cuci Reguler',
    action: 'Ketik kode',
  },
  {
    name: 'scan-tanpa-pemindai',
    path: '/scanPage',
    camera: SEEN,
    lost: READER,
    shows: 'Pemindai belum bisa dimuat',
    action: 'Ketik kode',
  },
  {
    name: 'scan-kode',
    path: '/scanPage',
    camera: SEEN,
    act: typeCode,
    shows: 'Cari mesin',
    action: 'Cari mesin',
  },
  {
    name: 'scan-memeriksa',
    path: '/scanPage',
    camera: SEEN,
    answers: { 'transaksi/get_layanan': SILENT },
    act: enterCode,
    shows: 'Memeriksa mesin…',
  },
  {
    name: 'scan-mesin-salah',
    path: '/scanPage',
    camera: SEEN,
    answers: { 'transaksi/get_layanan': new Refusal(404, 'Mesin Not found') },
    act: enterCode,
    shows: 'Mesin Not found',
  },
  {
    name: 'scan-tanpa-epay',
    path: '/scanPage',
    camera: SEEN,
    answers: { ...found(), 'transaksi/get_epayment': [] },
    act: enterCode,
    shows: 'E-Pay tidak ditemukan',
  },
  {
    name: 'pilih-layanan',
    path: '/pilihLayanan',
    session: chosen(),
    answers: found(),
    shows: 'Cuci Selimut',
  },
  {
    name: 'pilih-layanan-dipakai',
    path: '/pilihLayanan',
    session: chosen(),
    answers: inUse,
    shows: '12:00',
  },
  {
    name: 'pilih-layanan-disiapkan',
    path: '/pilihLayanan',
    session: chosen(),
    answers: found({ status: 'busy' }),
    shows: 'Mesin ini sedang disiapkan untuk pelanggan lain.',
    action: 'Pindai mesin lain',
  },
  {
    name: 'pilih-layanan-bebas',
    path: '/pilihLayanan',
    session: chosen(),
    answers: inUse,
    async act(page, socket, answers) {
      await page.getByText('12:00').waitFor()
      Object.assign(answers, found())
      // The machine's state counts where it is newer than the answer.
      await later(page, SECOND)
      socket.emit('heartbeat/3', { tl: 0, ends_at: NOW, server_time: NOW + SECOND })
    },
    shows: 'Mesin sudah bebas',
  },
  {
    name: 'pilih-layanan-offline',
    path: '/pilihLayanan',
    session: chosen(),
    answers: found({ status: 'offline' }),
    shows: 'Mesin sedang offline',
  },
  {
    name: 'pilih-layanan-tutup',
    path: '/pilihLayanan',
    session: chosen(),
    answers: found({
      status: 'offline',
      outlet: {
        ...MACHINE.outlet,
        tutup: {
          alasan: 'Air PDAM mati sejak pagi',
          sampai: new Date(NOW + 100 * MINUTE).toISOString(),
        },
      },
    }),
    shows: 'Outlet sedang tutup',
  },
  {
    name: 'pilih-layanan-sampai',
    path: '/pilihLayanan',
    session: chosen(),
    answers: {
      'transaksi/get_layanan': {
        data_mesin: MACHINE,
        data_layanan: services.map((one, i) => (i < 2 ? { ...one, harga_sampai: NOW + 54 * MINUTE } : one)),
      },
    },
    shows: /^sampai /,
  },
  {
    name: 'pilih-layanan-kosong',
    path: '/pilihLayanan',
    session: chosen(),
    answers: { 'transaksi/get_layanan': { data_mesin: MACHINE, data_layanan: [] } },
    shows: 'Belum ada layanan di outlet ini',
  },
  {
    name: 'pilih-layanan-cari',
    path: '/pilihLayanan',
    session: chosen(),
    answers: searched,
    act: search('kering'),
    shows: 'Kering Kilat',
  },
  {
    name: 'pilih-layanan-cari-kosong',
    path: '/pilihLayanan',
    session: chosen(),
    answers: searched,
    act: search('setrika'),
    shows: 'Tidak ada layanan yang cocok',
  },
  {
    name: 'pilih-layanan-hilang',
    path: '/dashboard',
    answers: { 'transaksi/get_layanan': { data_mesin: MACHINE, data_layanan: services.slice(1) } },
    async act(page) {
      await washAgain(page)
      await enterCode(page)
    },
    shows: 'Layanan ini sudah tidak ada',
  },
  {
    name: 'pilih-epay',
    path: '/pilihEpay',
    session: chosen({ layanan: REGULAR }),
    answers: { 'transaksi/get_epayment': [MELATI_ACCOUNT, EXPIRING_ACCOUNT] },
    shows: '2 E-Pay ditemukan',
  },
  {
    name: 'pilih-epay-kurang',
    path: '/pilihEpay',
    session: chosen({ layanan: REGULAR }),
    act: (page) => page.getByRole('button', { name: new RegExp(DAGO_ACCOUNT.outlet?.nama ?? '') }).click(),
    shows: 'saldo epay tidak cukup',
  },
  {
    name: 'pilih-epay-kosong',
    path: '/pilihEpay',
    session: chosen({ layanan: REGULAR }),
    answers: { 'transaksi/get_epayment': [] },
    shows: 'E-Pay tidak ditemukan',
  },
  { name: 'pembayaran', path: '/pembayaran', session: toPay, shows: 'SLF261122160500000', action: PAY },
  {
    name: 'pembayaran-mahal',
    path: '/pembayaran',
    session: chosen({ layanan: dear, epay: MELATI_ACCOUNT }),
    shows: 'Rp 1.250.000',
    action: PAY,
  },
  {
    name: 'pembayaran-menyalakan',
    path: '/pembayaran',
    session: toPay,
    answers: { 'transaksi/create_snap_transaksi': SILENT },
    act: pay,
    shows: 'Menyalakan mesin…',
  },
  {
    name: 'pembayaran-ditolak',
    path: '/pembayaran',
    session: toPay,
    answers: { 'transaksi/create_snap_transaksi': new Refusal(409, 'mesin sedang digunakan') },
    act: pay,
    shows: 'mesin sedang digunakan',
    action: 'Scan mesin',
  },
  {
    name: 'pembayaran-harga-baru',
    path: '/pembayaran',
    session: toPay,
    answers: { 'transaksi/create_snap_transaksi': newPrice(REGULAR.harga + 3_000) },
    act: pay,
    shows: 'Harga layanan berubah menjadi Rp 18.000',
    action: 'Pilih layanan lain',
  },
  {
    name: 'pembayaran-harga-baru-kurang',
    path: '/pembayaran',
    session: toPay,
    answers: { 'transaksi/create_snap_transaksi': newPrice(1_250_000) },
    act: pay,
    shows: 'Saldo kurang',
    action: 'Pilih layanan lain',
  },
  {
    name: 'pembayaran-memastikan',
    path: '/pembayaran',
    session: toPay,
    answers: { 'transaksi/create_snap_transaksi': CUT },
    act: pay,
    shows: 'Memastikan pembayaran…',
  },
  {
    name: 'pembayaran-belum-pasti',
    path: '/pembayaran',
    session: { ...toPay, 'nyala.pribadi.nota': RECEIPT },
    shows: 'Hasilnya belum diketahui',
    action: 'Lihat di Beranda',
  },
  {
    name: 'berhasil',
    path: '/pembayaran',
    session: toPay,
    answers: {
      'transaksi/create_snap_transaksi': { id: 'SLF261122160500000', message: 'ok' },
      'dashboard/get_dashboard': dashboard([LONG_RUN]),
    },
    act: pay,
    shows: 'Mesin Berhasil dinyalakan',
    action: 'Lihat di Beranda',
  },
]
