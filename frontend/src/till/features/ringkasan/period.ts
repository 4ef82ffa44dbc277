import { months } from '@/shared/copy/common'
import type { Period } from '@/till/api/figure-calls'
import { wallAsUtc } from '@/till/lib/page/zone-clock'

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

/** The server's limit for a report. */
export const MAX_DAYS = 92

export const CHOICES = ['hari', 'kemarin', 'tujuh', 'bulan'] as const
export type Choice = (typeof CHOICES)[number]

const dayOf = (utc_ms: number) => new Date(utc_ms).toISOString().slice(0, 10)
const utcOf = (day: string) => Date.parse(`${day}T00:00:00Z`)

export const plusDays = (day: string, days: number): string => dayOf(utcOf(day) + days * DAY_MS)
export const daysOf = ({ dari, sampai }: Period): number => (utcOf(sampai) - utcOf(dari)) / DAY_MS + 1

/** 0 is Sunday. */
export const weekdayOf = (day: string): number => new Date(utcOf(day)).getUTCDay()

/** The outlet's business day at an instant: it begins at `start_min` minutes after midnight on the outlet's wall clock. */
export const businessDay = (at_ms: number, zone: string, start_min: number): string =>
  dayOf(wallAsUtc(at_ms, zone) - start_min * MINUTE_MS)

export function periodOf(choice: Choice, today: string): Period {
  switch (choice) {
    case 'hari':
      return { dari: today, sampai: today }
    case 'kemarin':
      return { dari: plusDays(today, -1), sampai: plusDays(today, -1) }
    case 'tujuh':
      return { dari: plusDays(today, -6), sampai: today }
    case 'bulan':
      return { dari: `${today.slice(0, 8)}01`, sampai: today }
  }
}

/** This week from Monday to today. */
export const weekOf = (today: string): Period => ({
  dari: plusDays(today, -((weekdayOf(today) + 6) % 7)),
  sampai: today,
})

/** The days of the bars around a short period: two weeks that end with it. */
export const BAR_DAYS = 14
export const barsOf = ({ dari, sampai }: Period): Period =>
  daysOf({ dari, sampai }) < BAR_DAYS ? { dari: plusDays(sampai, 1 - BAR_DAYS), sampai } : { dari, sampai }

/** The period in the address; null where it has none, or one that the server refuses. */
export function periodIn(search: string, today: string): Period | Choice | null {
  const query = new URLSearchParams(search)
  const choice = CHOICES.find((one) => one === query.get('pilih'))
  if (choice) return choice
  const period = { dari: query.get('dari') ?? '', sampai: query.get('sampai') ?? '' }
  return faultOf(period, today) === null ? period : null
}

export type Fault = 'missing' | 'backwards' | 'future' | 'long'

/** What is wrong with days that a person typed. */
export function faultOf({ dari, sampai }: Period, today: string): Fault | null {
  const isDay = (day: string) => !Number.isNaN(utcOf(day)) && dayOf(utcOf(day)) === day
  if (!isDay(dari) || !isDay(sampai)) return 'missing'
  if (dari > sampai) return 'backwards'
  if (sampai > today) return 'future'
  return daysOf({ dari, sampai }) > MAX_DAYS ? 'long' : null
}

const WEEKDAYS = ['Minggu', 'Senin', 'Selasa', 'Rabu', 'Kamis', 'Jumat', 'Sabtu'] as const
export const weekdayName = (day: string): string => WEEKDAYS[weekdayOf(day)] ?? ''
export const shortWeekday = (day: string): string => weekdayName(day).slice(0, 3)

/** `24/11/2026` */
export const dateText = (day: string): string => day.split('-').reverse().join('/')
/** `Selasa 24/11/2026`, of several days `18/11–24/11/2026`, of a whole month so far `November 2026`. */
export function periodText({ dari, sampai }: Period): string {
  if (dari === sampai) return `${weekdayName(dari)} ${dateText(dari)}`
  if (dari.endsWith('-01') && dari.slice(0, 7) === sampai.slice(0, 7) && daysOf({ dari, sampai }) > 7)
    return `${months[Number(dari.slice(5, 7)) - 1]} ${dari.slice(0, 4)}`
  return `${dateText(dari).slice(0, 5)}–${dateText(sampai)}`
}

/** The name of the days that the figures are compared with: `Selasa lalu`, `minggu lalu`, or the days themselves. */
export function beforeText(period: Period, before: Period): string {
  const days = daysOf(period)
  if (days === 1) return `${weekdayName(period.dari)} lalu`
  return days <= 7 ? '7 hari sebelumnya' : `${dateText(before.dari).slice(0, 5)}–${dateText(before.sampai)}`
}
