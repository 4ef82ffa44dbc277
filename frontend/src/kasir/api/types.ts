/** The server's shapes at the till (docs/till.md). Money: whole rupiah. Instants: RFC 3339. */

export type Role = 'kasir' | 'supervisor' | 'owner' | 'root'
export type PayMethod = 'tunai' | 'qris' | 'transfer'

export interface Outlet {
  idoutlet: number
  nama: string
  kota: string
}

export interface Paired {
  perangkat: { id: number; nama: string }
  /** Null in a person's own browser. */
  outlet: Outlet | null
}

export interface ThisDevice extends Paired {
  petugas: Person[]
  shift: Shift | null
}

/** Somebody who may log in here. */
export interface Person extends Who {
  /** Seconds until the next PIN, 0 for at once. */
  tunggu_s: number
  /** Until a supervisor opens it. */
  dikunci: boolean
}

export interface Who {
  id: number
  nama: string
  role: Role
}

export interface LoggedIn {
  token: string
  sampai: string
  petugas: Who
  shift: Shift | null
}

export interface Shift {
  id: number
  dibuka_at: string
  /** Who opened it. */
  petugas: string
  modal: number
  ditutup_at: string | null
}

export interface ShiftNow {
  shift: Shift | null
  /** Never told to a kasir. */
  diharapkan: number | null
  gerak: CashMove[]
}

/** As the server tells it where no shift is open. */
export const NO_SHIFT_NOW: ShiftNow = { shift: null, diharapkan: null, gerak: [] }

export interface CashMove {
  id: number
  jenis: string
  nominal: number
  alasan: string | null
  petugas: string
  created_at: string
}

/** A customer's code, or a typed number. */
export type CustomerRef = { qr: string } | { telp: string }

export interface FoundCustomer {
  id_customer_global: number
  /** First name and an initial: `Siti R.` */
  nama: string
  /** With four digits to be seen. */
  telp: string
  /** Null where they have no account at this outlet yet. */
  saldo: number | null
  terakhir: { nominal: number; idpaket: number | null; created_at: string } | null
}

export interface Package {
  idpaket: number
  idoutlet: number
  nama: string
  harga: number
  quota: number
  aktif: boolean
}

export interface TopUpBody {
  id_customer_global: number
  idoutlet: number
  nominal: number
  idpaket?: number
  cara_bayar: PayMethod
  /** The same once more, knowingly. */
  ulang?: true
}

export interface TopUpMade {
  idpembelian_emoney: string
  idcustomer: number
  saldo_akhir: number
  nama: string
  batal_sampai: string
  created_at: string
}

export interface TopUpVoided {
  idpembelian_emoney: string
  idcustomer: number
  saldo_akhir: number
}

export interface TopUpRow {
  idpembelian_emoney: string
  created_at: string
  nama: string
  nominal: number
  quota: number
  nama_paket: string
  /** Null where nobody said. */
  cara_bayar: PayMethod | null
  /** Null for the command line. */
  petugas: string | null
  batal_at: string | null
  batal_sampai: string
}

/** `lanjut` is the `sebelum` of the next page. */
export interface Rows<T> {
  baris: T[]
  lanjut: string | number | null
}

export type UseStatus = 'menunggu' | 'belum_pasti' | 'jalan' | 'selesai' | 'dihentikan' | 'gagal'

export interface UseRow {
  /** The receipt number, which another customer may have too. */
  idtransaksi: string
  idcustomer: number
  created_at: string
  nama: string
  mesin: string
  layanan: string
  grandtotal: number
  dikembalikan: number
  status: UseStatus
  dihapus_at: string | null
}

/** What a refund or a deletion gave back. */
export interface MoneyBack {
  idtransaksi: string
  idcustomer: number
  entri: number
  jumlah: number
  saldo_akhir: number
  /** How many of both there were this month, this one included. */
  ke: { pelanggan: number; mesin: number }
}

export type CashKind = 'masuk' | 'keluar' | 'setor'

/** What was counted in a drawer: notes by their value, and `koin` in rupiah. */
export interface Counted {
  dihitung: number
  pecahan: Record<string, number>
}

export interface ShiftClosed {
  id: number
  diharapkan: number
  dihitung: number
  selisih: number
  /** The next one, after a handover; with the session of whoever took over, whose token is told once. */
  baru: Shift | null
  token: string | null
  sampai: string | null
  petugas: Who | null
}

export type ApprovedAction = 'topup' | 'batal' | 'refund' | 'hapus' | 'kas'
