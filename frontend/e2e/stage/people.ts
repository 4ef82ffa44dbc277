import type { Schemas } from './server.ts'

/** The fixed moment of the pictures: five past four in the afternoon in Jakarta. */
export const NOW = Date.parse('2026-11-22T16:05:00+07:00')

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
const DAY = 24 * 60 * MINUTE

/** A time this long before the moment, in the server's format. */
const before = (ms: number) => new Date(NOW - ms).toISOString()

const ID = 7
export const TELP = '85191363216'
/** A token without a valid signature: only the app reads its claims, and the server never checks it. */
export const TOKEN = `e30.${btoa(JSON.stringify({ id_customer_global: ID }))}.stage`

const name = { id: ID, nama_awal: 'Siti', nama_akhir: 'Rahmawati', telp: TELP }
export const siti: Schemas['CustomerGlobal'] = {
  ...name,
  full_telp: `62${TELP}`,
  updated_at: before(6 * DAY),
}

const OWNER = 1
const MELATI = { idoutlet: 1, nama: 'Laundry Melati', kota: 'Bandung' }
const DAGO = { idoutlet: 2, nama: 'Cuci Kilat Dago', kota: 'Bandung' }

function account(idcustomer: number, outlet: typeof MELATI, saldo: number): Schemas['AkunEpay'] {
  const place = { latitude: -6.9147, longitude: 107.6098, created_at: '2026-11-20T03:00:00Z' }
  return {
    idcustomer,
    nama: 'Siti Rahmawati',
    owner_idowner: OWNER,
    outlet: { ...outlet, ...place },
    quota_emoney: { saldo, jenis_emoney: 2, masa_aktif: null, updated_at: before(DAY) },
  }
}

export const MELATI_ACCOUNT = account(11, MELATI, 85_000)
export const DAGO_ACCOUNT = account(12, DAGO, 9_000)
/** A wallet that expires at the year's end. */
export const EXPIRING_ACCOUNT: typeof DAGO_ACCOUNT = {
  ...DAGO_ACCOUNT,
  quota_emoney: {
    saldo: 9_000,
    jenis_emoney: 1,
    masa_aktif: Date.parse('2026-12-31T16:59:59Z'),
    updated_at: before(DAY),
  },
}
export const accounts = [MELATI_ACCOUNT, DAGO_ACCOUNT]

export const services: Schemas['DataLayanan'][] = [
  { id: 1, idoutlet: 1, nama: 'Cuci Reguler', durasi: 2_100, harga: 15_000, harga_sampai: null },
  { id: 2, idoutlet: 1, nama: 'Cuci Kilat', durasi: 1_500, harga: 18_000, harga_sampai: null },
  { id: 3, idoutlet: 1, nama: 'Cuci Selimut', durasi: 3_600, harga: 25_000, harga_sampai: null },
  { id: 4, idoutlet: 1, nama: 'Bilas & Peras', durasi: 900, harga: 8_000, harga_sampai: null },
]

/** Enough services to make the list searchable. */
export const manyServices: typeof services = [
  ...services,
  { id: 5, idoutlet: 1, nama: 'Kering Reguler', durasi: 1_800, harga: 12_000, harga_sampai: null },
  { id: 6, idoutlet: 1, nama: 'Kering Kilat', durasi: 1_200, harga: 14_000, harga_sampai: null },
  { id: 7, idoutlet: 1, nama: 'Cuci Sepatu', durasi: 2_400, harga: 20_000, harga_sampai: null },
  { id: 8, idoutlet: 1, nama: 'Cuci Boneka', durasi: 2_700, harga: 22_000, harga_sampai: null },
  { id: 9, idoutlet: 1, nama: 'Cuci Karpet', durasi: 4_200, harga: 40_000, harga_sampai: null },
  { id: 10, idoutlet: 1, nama: 'Cuci Gorden', durasi: 3_000, harga: 30_000, harga_sampai: null },
  { id: 11, idoutlet: 1, nama: 'Cuci Jaket', durasi: 2_100, harga: 18_000, harga_sampai: null },
]
export const REGULAR = services[0] as Schemas['DataLayanan']

export const MACHINE: Schemas['DataMesin'] = {
  id: 3,
  nama: 'Cuci 03',
  idowner: OWNER,
  status: 'idle',
  tl: null,
  ends_at: null,
  outlet: { ...MELATI, tutup: null },
}

/** A purchase that started before the moment and ends `left_ms` after it; status 2 has not started. */
function use(
  [idmesin, machine]: [number, string],
  service: { nama: string; durasi: number },
  status: number,
  left_ms: number | null,
): Schemas['SnapTransaksi'] {
  const created_at = before(service.durasi * SECOND - (left_ms ?? 0))
  return {
    id: `SLF26112216000000${idmesin}`,
    created_at,
    finished_at: null,
    ends_at: left_ms === null ? null : NOW + left_ms,
    server_time: NOW,
    grandtotal: 15_000,
    isDelete: false,
    outlet: MELATI,
    snap_transaksi_detail: [
      { idmesin, status, durasi: service.durasi, snap_layanan: service, snap_mesin: { nama: machine } },
    ],
  }
}

export const LONG_RUN = use([3, 'Cuci 03'], REGULAR, 3, 24 * MINUTE + 7 * SECOND)
/** A cycle whose time is over, without a report that it ended. */
export const LATE_RUN = use([3, 'Cuci 03'], REGULAR, 3, 0)
export const SHORT_RUN = use([2, 'Pengering 02'], { nama: 'Pengering', durasi: 1_200 }, 3, 48 * SECOND)
export const WAITING = use([5, 'Cuci 05'], { nama: 'Cuci Kilat', durasi: 1_500 }, 2, null)

export const LEFT: Schemas['Menunggu'] = {
  id: 'SLF261122152500123',
  finished_at: before(12 * MINUTE),
  layanan: 'Cuci Reguler',
  mesin: 'Cuci 03',
  outlet: MELATI.nama,
}

export const dashboard = (
  list_snap_transaksi: Schemas['SnapTransaksi'][] = [],
  menunggu: Schemas['Menunggu'][] = [],
): Schemas['Dashboard'] => ({ customer_global: name, list_snap_transaksi, menunggu })

export const LAST_USE: Schemas['Terakhir'] = {
  idcustomer: MELATI_ACCOUNT.idcustomer,
  idlayanan: REGULAR.id,
  idoutlet: MELATI.idoutlet,
  nama: REGULAR.nama,
  harga: REGULAR.harga,
  durasi: REGULAR.durasi,
}

type Row = [Schemas['RefType'], value: number, time: string, typeof MELATI]
const rows: Row[] = [
  ['snap_transaksi', -15_000, '2026-11-22T16:05', MELATI],
  ['snap_transaksi', -12_000, '2026-11-22T15:36', MELATI],
  ['pembelian_emoney', 50_000, '2026-11-22T15:30', MELATI],
  ['snap_transaksi_refund', 18_000, '2026-11-21T19:14', DAGO],
  ['snap_transaksi', -18_000, '2026-11-21T19:12', DAGO],
  ['pembelian_emoney_batal', -500_000, '2026-11-21T09:02', DAGO],
  ['snap_transaksi_hapus', 15_000, '2026-11-20T10:02', MELATI],
  ['pembelian_emoney', 100_000, '2026-11-20T09:50', MELATI],
  ['snap_transaksi', -8_000, '2026-10-28T20:41', MELATI],
  ['pembelian_emoney', 25_000, '2026-10-28T20:30', MELATI],
]

export function history(only?: Schemas['RefType']): Schemas['History'] {
  const history_data = rows
    .map(([ref_type, value, time, { nama }], i) => ({
      ref_type,
      ref_id: `${100 - i}`,
      entri: 100 - i,
      value,
      date: `${time}:00+07:00`,
      outlet: nama,
    }))
    .filter(({ ref_type }) => !only || ref_type === only)
  return { history_data, returned: history_data.length, sampai: 'stage' }
}

type MoneyRow = [Schemas['RefType'], value: number, time: string]
const moneyRows: MoneyRow[] = [
  ['pindah_masuk', 40_000, '2026-11-22T15:50'],
  ['pindah_keluar', -40_000, '2026-11-22T15:50'],
  ['saldo_hangus', -10_000, '2026-11-21T18:20'],
  ['penarikan', -40_000, '2026-11-21T18:20'],
  ['saldo_awal', 50_000, '2026-11-20T09:50'],
]

/** Balance that was paid out, ended, moved, or brought along. */
export const moneyHistory: Schemas['History'] = {
  history_data: moneyRows.map(([ref_type, value, time], i) => ({
    ref_type,
    ref_id: `${9 - i}`,
    entri: 9 - i,
    value,
    date: `${time}:00+07:00`,
    outlet: MELATI.nama,
  })),
  returned: moneyRows.length,
  sampai: 'stage',
}

export const QRIS_OUTLET: Schemas['OutletQris'] = {
  ...MELATI,
  nominal: [20_000, 50_000, 100_000, 200_000],
  paket: [{ idpaket: 4, nama: 'Paket Hemat', harga: 100_000, quota: 110_000 }],
}
export const QRIS_OUTLETS = [QRIS_OUTLET, { ...DAGO, nominal: QRIS_OUTLET.nominal, paket: [] }]

/** A bill that was made two minutes ago; without its picture. */
export const BILL: Schemas['Tagihan'] = {
  idtagihan: 'NYL7QJ2M4K8X0ABCDEFGH12',
  status: 'menunggu',
  nominal: 50_000,
  quota: 50_000,
  nama_paket: 'Top-Up',
  idoutlet: MELATI.idoutlet,
  outlet: MELATI.nama,
  qr: null,
  png: null,
  deeplink: null,
  kedaluwarsa_at: new Date(NOW + 28 * MINUTE).toISOString(),
  server_time: NOW,
  idpembelian_emoney: null,
  saldo_akhir: null,
}
/** As the phone keeps the request for it. */
export const KEPT_BILL = {
  [`nyala.customer.${ID}.qris`]: {
    request: { id: '8d7c2a4e-1f7b-4c39-9a55-0d6a1c2b3e4f', idoutlet: MELATI.idoutlet, nominal: 50_000 },
    idtagihan: BILL.idtagihan,
    asked_ms: NOW - 2 * MINUTE,
  },
}

export const PENDING_MOVE: Schemas['PindahMenunggu'] = {
  idpindah: 12,
  ke: '0812••••2211',
  terjadi_at: '2026-11-23T15:40:00+07:00',
}

export const PAID: Schemas['RincianTransaksi'] = {
  ...LONG_RUN,
  id: 'SLF261122160500123',
  created_at: before(0),
  keluhan: null,
}

/** The detail of each kind of entry. */
export const details = {
  'transaksi/get_detail_snap_transaksi': PAID,
  'transaksi/get_detail_snap_hapus': { ...PAID, isDelete: true },
  'epayment/get_epayment': {
    idpembelian_emoney: '98',
    created_at: '2026-11-22T15:30:00+07:00',
    nama_paket: 'Paket Hemat',
    harga_paket: 45_000,
    quota: 50_000,
    saldo_akhir: 100_000,
    nama_outlet: MELATI.nama,
    kota: MELATI.kota,
    outlet: MELATI,
  },
  'epayment/get_detail_batal': {
    idpembelian_emoney: '95',
    waktu_batal: '2026-11-21T09:02:00+07:00',
    nominal_batal: 500_000,
    alasan: 'Salah jumlah',
    outlet: DAGO,
  },
  'epayment/get_detail_penarikan': {
    idpenarikan: 6,
    waktu: '2026-11-21T18:20:00+07:00',
    dibayar: 40_000,
    hangus: 10_000,
    outlet: MELATI,
  },
  'epayment/get_detail_pindah': {
    idpindah: 9,
    waktu: '2026-11-22T15:50:00+07:00',
    dari: '0812••••2211',
    ke: '0851••••3216',
    jumlah: 40_000,
  },
  'epayment/get_detail_saldo_awal': {
    idsaldo_awal: 5,
    waktu: '2026-11-20T09:50:00+07:00',
    jumlah: 50_000,
    outlet: MELATI,
  },
  'epayment/get_detail_refund': {
    idtransaksi: 'SLF261121191200123',
    waktu_refund: '2026-11-21T19:14:00+07:00',
    nominal_refund: 18_000,
  },
}
