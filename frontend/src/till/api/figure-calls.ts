// The calls of the figures (docs/board.md), apart from the till's other calls: only the summary's own chunk needs them.
import { ops } from '@/till/api/client'

/** A part of a machine's day; the machine was ready where there is none. Instants: RFC 3339. */
export interface Band {
  dari: string
  sampai: string
  keadaan: string
}

export interface MachineFigures {
  idmesin: number
  nama: string
  jenis: string
  siklus: number
  pendapatan: number
  /** The median of the last four same weekdays; null for fewer than two of them. */
  biasa: number | null
  menit_mati: number
  sejak_servis: number
  /** Empty for several days. */
  pita: Band[]
}

export interface DayFigures {
  tanggal: string
  pendapatan: number
  siklus: number
}

export type Methods = Record<'tunai' | 'qris' | 'transfer' | 'lain', number>

export interface PersonFigures {
  petugas: string
  batal: number
  batal_kali: number
  refund: number
  refund_kali: number
}

/** What an outlet earned in a period, and what went wrong. Rupiah; days `2026-11-24`. */
export interface Summary {
  dari: string
  sampai: string
  /** What was used, less what was refunded. */
  pendapatan: number
  pemakaian: number
  siklus: number
  per_mesin: MachineFigures[]
  per_hari: DayFigures[]
  topup: Methods
  topup_kali: Methods
  saldo_beredar: number
  saldo: { lain: number | null; batas: number; ingatkan: number; perubahan: number }
  selisih_kas: number
  batal: number
  refund: number
  kembali_sendiri: { jumlah: number; kali: number }
  per_orang: PersonFigures[]
  menit_mati: number
  /** The same days a week before, until the same minute. */
  banding: { dari: string; sampai: string; hingga: string; pendapatan: number; siklus: number }
}

export interface ShiftFigures {
  idshift: number
  perangkat: string
  dibuka_at: string
  dibuka_oleh: string
  ditutup_at: string | null
  ditutup_oleh: string | null
  selisih: number | null
  catatan: string | null
}

/** Both days count. */
export interface Period {
  dari: string
  sampai: string
}

export const REPORTS = ['harian', 'mesin', 'shift', 'saldo', 'pemakaian'] as const
export type Report = (typeof REPORTS)[number]

export const figureKeys = {
  summary: (idoutlet: number, { dari, sampai }: Period) => ['summary', idoutlet, dari, sampai],
  report: (report: Report, idoutlet: number, { dari, sampai }: Period) => [
    'report',
    report,
    idoutlet,
    dari,
    sampai,
  ],
}

const query = (idoutlet: number, { dari, sampai }: Period) =>
  `idoutlet=${idoutlet}&dari=${dari}&sampai=${sampai}`

export const getSummary = (idoutlet: number, period: Period, signal?: AbortSignal) =>
  ops<Summary>('GET', `ringkasan?${query(idoutlet, period)}`, { signal })

/** The rows of a report that is not paged. */
export async function getReport<Row>(
  report: Report,
  idoutlet: number,
  period: Period,
  signal?: AbortSignal,
): Promise<Row[]> {
  const path = `laporan/${report}?${query(idoutlet, period)}`
  return (await ops<{ baris: Row[] }>('GET', path, { signal })).baris
}

export const getCsv = (report: Report, idoutlet: number, period: Period) =>
  ops<Blob>('GET', `laporan/${report}?${query(idoutlet, period)}&format=csv`, { file: true })
export const csvName = (report: Report, idoutlet: number, { dari, sampai }: Period): string =>
  `${report}-${idoutlet}-${dari}-${sampai}.csv`
