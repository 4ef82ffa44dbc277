import { rupiah } from '@/shared/lib/text/format'
import type { Band, MachineFigures, Summary } from '@/till/api/figure-calls'
import { beforeText } from './period'

/** `10 j 40 m`, short for a table; nothing for less than a minute. */
export function shortTime(minutes: number): string {
  const [h, m] = [Math.floor(minutes / 60), Math.round(minutes % 60)]
  if (h === 0) return m === 0 ? '–' : `${m} m`
  return m === 0 ? `${h} j` : `${h} j ${m} m`
}

/** `10 jam 40 menit`, for a sentence. */
export function longTime(minutes: number): string {
  const [h, m] = [Math.floor(minutes / 60), Math.round(minutes % 60)]
  return [h > 0 && `${h} jam`, (m > 0 || h === 0) && `${m} menit`].filter(Boolean).join(' ')
}

/** `+11 %` beside what was before; null where there was nothing. */
export function changeText(now: number, before: number): string | null {
  if (before <= 0) return null
  const percent = Math.round(((now - before) / before) * 100)
  return `${percent > 0 ? '+' : ''}${percent}%`
}

/** A whole number, or one with a half: the usual number of cycles may be a mean of two. */
export const countText = (count: number): string => String(Math.round(count * 10) / 10).replace('.', ',')

/** Thresholds from which a machine is looked at: minutes down, and the share of its usual cycles. */
const DOWN_MIN = 30
const FEW = 0.7
/** Fewer usual cycles differ by chance. */
const ENOUGH = 3

/** `over`: the day has ended. Before that its cycles may still become as usual. */
export function needsLook({ menit_mati, siklus, biasa }: MachineFigures, over: boolean): boolean {
  return menit_mati >= DOWN_MIN || (over && biasa !== null && biasa >= ENOUGH && siklus < FEW * biasa)
}

/** The machines to look at first, the worst on top; the others by their cycles. */
export function splitMachines(machines: readonly MachineFigures[], over: boolean) {
  const look = machines.filter((one) => needsLook(one, over))
  const usual = machines.filter((one) => !needsLook(one, over))
  look.sort((a, b) => b.menit_mati - a.menit_mati || a.siklus - b.siklus)
  usual.sort((a, b) => b.siklus - a.siklus || b.pendapatan - a.pendapatan)
  return { look, usual }
}

/** Cycles that a machine made less than it usually does on a whole day. */
export const missing = ({ siklus, biasa }: MachineFigures): number =>
  biasa === null ? 0 : Math.max(0, biasa - siklus)

/** An estimate of the rupiah that the machines to look at did not earn on a whole day, by the average price of a cycle of their kind. */
export function lostRupiah(machines: readonly MachineFigures[]): number {
  const average = (jenis: string) => {
    const same = machines.filter((one) => one.jenis === jenis)
    const cycles = same.reduce((sum, { siklus }) => sum + siklus, 0)
    return cycles === 0 ? 0 : same.reduce((sum, { pendapatan }) => sum + pendapatan, 0) / cycles
  }
  const look = machines.filter((one) => needsLook(one, true))
  const lost = look.reduce((sum, one) => sum + missing(one) * average(one.jenis), 0)
  return Math.round(lost / 1_000) * 1_000
}

/** The usual cycles of all machines; null where that is unknown of one. */
export function usualCycles(machines: readonly MachineFigures[]): number | null {
  if (machines.length === 0 || machines.some(({ biasa }) => biasa === null)) return null
  return machines.reduce((sum, { biasa }) => sum + (biasa ?? 0), 0)
}

/** The figures in one sentence: the money beside what was before, and the machine that was down the longest. */
export function sentence(summary: Summary): string {
  const { pendapatan, banding, per_mesin } = summary
  const before = beforeText(summary, banding)
  const more = pendapatan - banding.pendapatan
  const money =
    banding.pendapatan === 0 && banding.siklus === 0
      ? `${rupiah(pendapatan)}, belum ada pembanding dari ${before}`
      : more === 0
        ? `Sama dengan ${before}`
        : `${rupiah(Math.abs(more))} ${more > 0 ? 'lebih' : 'kurang'} dari ${before}`
  const down = per_mesin.filter(({ menit_mati }) => menit_mati >= DOWN_MIN)
  const [worst, ...others] = down.sort((a, b) => b.menit_mati - a.menit_mati)
  if (!worst) return `${money}, semua mesin bisa dipakai.`
  const rest = others.length === 0 ? '' : `, ${others.length} mesin lain juga mati`
  return `${money}, ${worst.nama} mati ${longTime(worst.menit_mati)}${rest}.`
}

export interface Part {
  /** Shares of the day, 0 to 1. */
  from: number
  until: number
  state: string
}

/** A machine's bands as shares of a day, without what lies outside of it. */
export function partsOf(bands: readonly Band[], start_ms: number, end_ms: number): Part[] {
  const share = (instant: string) =>
    Math.min(1, Math.max(0, (Date.parse(instant) - start_ms) / (end_ms - start_ms)))
  return bands
    .map(({ dari, sampai, keadaan }) => ({ from: share(dari), until: share(sampai), state: keadaan }))
    .filter(({ from, until }) => until > from)
}

/** Round values for the lines behind bars, from 0 to at least the largest. */
export function ticksTo(largest: number, lines = 3): number[] {
  if (largest <= 0) return [0, 1]
  const raw = largest / lines
  const power = 10 ** Math.floor(Math.log10(raw))
  const step = [1, 2, 2.5, 5, 10].map((one) => one * power).find((one) => one >= raw) ?? raw
  return Array.from({ length: Math.ceil(largest / step) + 1 }, (_, i) => i * step)
}

/** `1.352` thousands of rupiah, `0,5` for half a thousand. */
export function thousands(amount: number): string {
  const [whole = '', part] = String(Math.round(amount / 100) / 10).split('.')
  return whole.replace(/\B(?=(\d{3})+$)/g, '.') + (part ? `,${part}` : '')
}
