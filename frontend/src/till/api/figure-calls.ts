// The calls of the figures (docs/board.md), apart from the till's other calls: only the summary's own chunk needs them.
import type { Schemas } from '@/shared/api/model'
import { ops } from '@/till/api/client'

/** A part of a machine's day; the machine was ready where there is none. */
export type Band = Schemas['Pita']
/** `biasa`: the median of the last four same weekdays. */
export type MachineFigures = Schemas['RingkasanMesin']
export type DayFigures = Schemas['RingkasanHari']
export type Methods = Schemas['PerCaraBayar']
/** What an outlet earned in a period, and what went wrong. Rupiah; days `2026-11-24`. */
export type Summary = Schemas['Ringkasan']
export type ShiftFigures = Schemas['LaporanShift']

/** Both days count. */
export interface Period {
  dari: string
  sampai: string
}

/** `qris`: for an owner. */
export const REPORTS = ['harian', 'mesin', 'shift', 'saldo', 'pemakaian', 'qris'] as const
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
