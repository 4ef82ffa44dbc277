/** Shapes of the server's answers (contract §1, §2). Money: whole rupiah. Durations: seconds. */

export type Id = number

export interface CustomerGlobal {
  id: Id
  nama_awal: string
  nama_akhir: string
  telp: string
}

export interface SnapDetail {
  id?: Id
  /** 1 held, 2 sent or unsure, 3 running, 4 finished. */
  status: number
  durasi: number
  idmesin: Id
  snap_mesin: { nama: string }
  snap_layanan: { nama: string; durasi: number }
}

export interface SnapTransaksi {
  /** The receipt number. */
  id: string
  grandtotal: number
  created_at: string
  finished_at: string | null
  outlet: { nama: string }
  snap_transaksi_detail: SnapDetail[]
}

export interface Dashboard {
  customer_global: CustomerGlobal
  list_snap_transaksi: SnapTransaksi[]
}

export interface OutletEpay {
  idoutlet: Id
  nama: string
  kota: string
  latitude: number
  longitude: number
  /** When the account at this outlet was opened. */
  created_at: string
}

export interface QuotaEmoney {
  saldo: number
  /** 2 never expires. */
  jenis_emoney: number
  /** Epoch ms. */
  masa_aktif: number | null
  updated_at: string
}

export interface AkunEpay {
  idcustomer: Id
  nama: string
  owner_idowner: Id
  outlet: OutletEpay | null
  quota_emoney: QuotaEmoney | null
}

export interface DataMesin {
  id: Id
  nama: string
  idowner: Id
  status: 'idle' | 'busy' | 'offline'
  /** Milliseconds left when busy and running. */
  tl: number | null
  outlet: { idoutlet: Id; nama: string; kota: string }
}

export interface DataLayanan {
  id: Id
  nama: string
  durasi: number
  harga: number
  idoutlet: Id
}

export interface Layanan {
  data_mesin: DataMesin
  data_layanan: DataLayanan[]
}

export interface CreateSnapTransaksi {
  id: string
  idcustomer: Id
  idmesin: Id
  idoutlet: Id
  idsnap_layanan: Id
  total: number
  grandtotal: number
}

export type RefType = 'snap_transaksi' | 'pembelian_emoney' | 'snap_transaksi_hapus' | 'snap_transaksi_refund'

export interface HistoryEntry {
  ref_id: string | number
  ref_type: RefType
  /** Tells the refunds of one use apart. */
  entri: number
  date: string
  outlet: string
  value: number
}

export interface History {
  history_data: HistoryEntry[] | null
  returned: number
  sampai: string | null
}

export interface SnapHistoryDetail {
  id: string
  created_at: string
  grandtotal: number
  isDelete: boolean
  outlet: { nama: string; kota: string }
  snap_transaksi_detail: SnapDetail[]
}

export interface TopUpDetail {
  idpembelian_emoney: number | string
  created_at: string
  harga_paket: number
  quota: number
  nama_paket: string
  nama_outlet: string
  kota: string
  outlet: { nama: string; kota: string }
  saldo_akhir: number
}

export interface RefundDetail {
  idtransaksi: string
  waktu_refund: string
  nominal_refund: number
}

export interface Akun {
  id: Id
  nama_awal: string
  nama_akhir: string
  full_telp: string
  telp: string
  /** When the password was last changed. */
  updated_at: string
}
