import { lastOf } from '@/shared/lib/text/last-of'
import type { PriceRule } from '@/till/api/shop-calls'
import { clockText, minuteOf } from '@/till/lib/page/clock-text'
import { layanan } from './layanan-copy'

export const MAX_RULES = 6
const DAY_MIN = 24 * 60
const WEEK_MIN = 7 * DAY_MIN

/** A part of the week, in minutes after Monday's midnight: from `from` until before `until`. */
interface Span {
  from: number
  until: number
}

/** The parts of the week in which a rule holds. One past midnight belongs to the day where it began; Sunday's goes on on Monday. */
function spansOf({ hari, dari, sampai }: PriceRule): Span[] {
  const start = minuteOf(dari)
  const end = minuteOf(sampai)
  return hari.flatMap((day) => {
    const from = (day - 1) * DAY_MIN + start
    const until = from + (end > start ? end - start : end - start + DAY_MIN)
    return until <= WEEK_MIN
      ? [{ from, until }]
      : [
          { from, until: WEEK_MIN },
          { from: 0, until: until - WEEK_MIN },
        ]
  })
}

/** The first two rules that hold at one minute, or null: the server refuses them. */
export function overlapOf(rules: readonly PriceRule[]): [PriceRule, PriceRule] | null {
  for (const [i, one] of rules.entries()) {
    const spans = spansOf(one)
    for (const other of rules.slice(i + 1)) {
      const meets = spansOf(other).some((b) => spans.some((a) => a.from < b.until && b.from < a.until))
      if (meets) return [one, other]
    }
  }
  return null
}

/** A stretch of one day with one price; `rule` is the index of its rule, null for the usual price. */
export interface Stretch {
  from: number
  until: number
  rule: number | null
}

/** The stretches of each day from Monday on, in minutes after midnight, without gaps. */
export function weekOf(rules: readonly PriceRule[]): Stretch[][] {
  const spans = rules.flatMap((one, rule) => spansOf(one).map((span) => ({ ...span, rule })))
  return Array.from({ length: 7 }, (_, day) => {
    const begin = day * DAY_MIN
    const here = spans
      .map(({ from, until, rule }) => ({
        from: Math.max(from - begin, 0),
        until: Math.min(until - begin, DAY_MIN),
        rule,
      }))
      .filter(({ from, until }) => from < until)
      .sort((a, b) => a.from - b.from)
    const stretches: Stretch[] = []
    let at = 0
    for (const { from, until, rule } of here) {
      if (from > at) stretches.push({ from: at, until: from, rule: null })
      if (until > at) stretches.push({ from: Math.max(from, at), until, rule })
      at = Math.max(at, until)
    }
    if (at < DAY_MIN) stretches.push({ from: at, until: DAY_MIN, rule: null })
    return stretches
  })
}

/** `Sen–Jum`, `Sab, Min`, `Setiap hari`: runs of three days and more are shortened. */
export function daysText(days: readonly number[]): string {
  const sorted = [...new Set(days)].sort((a, b) => a - b)
  if (sorted.length === 7) return layanan.everyDay
  const runs: number[][] = []
  for (const day of sorted) {
    const run = lastOf(runs)
    if (run && lastOf(run) === day - 1) run.push(day)
    else runs.push([day])
  }
  const name = (day: number | undefined) => layanan.days[(day ?? 1) - 1] ?? ''
  return runs
    .map((run) => (run.length > 2 ? `${name(run[0])}–${name(lastOf(run))}` : run.map(name).join(', ')))
    .join(', ')
}

/** `Sen–Jum 22.00–06.00` */
export const ruleText = ({ hari, dari, sampai }: PriceRule): string =>
  `${daysText(hari)} ${clockText(dari)}–${clockText(sampai)}`

/** The same rules, whatever the order of their days. */
export const sameRules = (some: readonly PriceRule[], others: readonly PriceRule[]): boolean =>
  JSON.stringify(some.map(inOrder)) === JSON.stringify(others.map(inOrder))

const inOrder = ({ hari, dari, sampai, harga }: PriceRule) => [
  [...hari].sort((a, b) => a - b),
  dari,
  sampai,
  harga,
]
