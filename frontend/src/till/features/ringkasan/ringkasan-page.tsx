import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { slot } from '@/shared/lib/session/storage'
import { Empty } from '@/shared/ui/empty'
import { Failed } from '@/shared/ui/failed'
import { Spinner } from '@/shared/ui/spinner'
import { getOutlets } from '@/till/api/calls'
import {
  type DayFigures,
  figureKeys,
  getReport,
  getSummary,
  type Period,
  type ShiftFigures,
} from '@/till/api/figure-calls'
import { keys } from '@/till/api/keys'
import type { ShopOutlet } from '@/till/api/types'
import { useNow } from '@/till/lib/page/clock'
import { navigate, paths, useSearch } from '@/till/lib/page/router'
import { instantAt } from '@/till/lib/page/zone-clock'
import { useConnected } from '@/till/lib/session/use-connected'
import { DaysChart } from './days-chart'
import { Glance, Hero } from './hero'
import { LookList } from './look-list'
import { Machines } from './machines'
import { BalanceCard, CashCard, CoinCard, ReturnsCard, TopUpCard } from './money-cards'
import { barsOf, businessDay, type Choice, daysOf, periodIn, periodOf, plusDays, weekOf } from './period'
import styles from './ringkasan.module.css'
import { ringkasan as copy } from './ringkasan-copy'
import { Toolbar } from './toolbar'

/** Figures of a day that is not over are asked for again; others change only by a refund. */
const TODAY_MS = 60_000
const PAST_MS = 5 * 60_000

const lastOutlet = slot<number>(
  'local',
  'nyala.kasir.ringkasan',
  (value): value is number => typeof value === 'number',
)

/** What an outlet earned, and what went wrong there (docs/board.md). */
export default function SummaryPage() {
  const outlets = useQuery({ queryKey: keys.outlets, queryFn: ({ signal }) => getOutlets(signal) })
  const search = useSearch()
  const [last] = useState(lastOutlet.read)
  const { data } = outlets
  if (!data) {
    if (!outlets.isError) return <Spinner large />
    return (
      <Failed error={outlets.error} pending={outlets.isFetching} onRetry={() => void outlets.refetch()} />
    )
  }
  const asked = Number(new URLSearchParams(search).get('outlet')) || last
  const here = data.find(({ idoutlet }) => idoutlet === asked) ?? data[0]
  if (!here) return <Empty title={copy.noOutlet} />
  return <OneOutlet key={here.idoutlet} here={here} outlets={data} />
}

function OneOutlet({ here, outlets }: { here: ShopOutlet; outlets: readonly ShopOutlet[] }) {
  const { idoutlet, zona, hari_mulai } = here
  const search = useSearch()
  const [hour = 0, minute = 0] = hari_mulai.split(':').map(Number)
  const start_min = hour * 60 + minute
  const today = businessDay(useNow(TODAY_MS), zona, start_min)
  const chosen = periodIn(search, today) ?? 'kemarin'
  const period = typeof chosen === 'string' ? periodOf(chosen, today) : chosen

  function show(next: Choice | Period, outlet = idoutlet) {
    lastOutlet.write(outlet)
    const days = typeof next === 'string' ? `pilih=${next}` : `dari=${next.dari}&sampai=${next.sampai}`
    navigate(`${paths.summary}?outlet=${outlet}&${days}`, { replace: true })
  }
  return (
    <div className={styles.page}>
      <Toolbar
        here={here}
        outlets={outlets}
        today={today}
        chosen={chosen}
        period={period}
        onOutlet={(outlet) => show(chosen, outlet)}
        onPeriod={show}
      />
      <Figures here={here} today={today} period={period} start_min={start_min} />
    </div>
  )
}

interface FiguresProps {
  here: ShopOutlet
  today: string
  period: Period
  start_min: number
}

function useSummary(idoutlet: number, period: Period, today: string, enabled = true) {
  const running = period.sampai >= today
  return useQuery({
    queryKey: figureKeys.summary(idoutlet, period),
    queryFn: ({ signal }) => getSummary(idoutlet, period, signal),
    staleTime: running ? TODAY_MS : PAST_MS,
    refetchInterval: running && TODAY_MS,
    enabled,
  })
}

function Figures({ here: { idoutlet, zona }, today, period, start_min }: FiguresProps) {
  const connected = useConnected()
  const main = useSummary(idoutlet, period, today)
  const isToday = period.dari === today && period.sampai === today
  const beside = periodOf(isToday ? 'kemarin' : 'hari', today)
  const day = useSummary(idoutlet, beside, today)
  const week = useSummary(idoutlet, weekOf(today), today)
  const around = barsOf(period)
  const bars = useQuery({
    queryKey: figureKeys.report('harian', idoutlet, around),
    queryFn: ({ signal }) => getReport<DayFigures>('harian', idoutlet, around, signal),
    staleTime: TODAY_MS,
    enabled: daysOf(around) > daysOf(period),
  })
  const shifts = useQuery({
    queryKey: figureKeys.report('shift', idoutlet, period),
    queryFn: ({ signal }) => getReport<ShiftFigures>('shift', idoutlet, period, signal),
    staleTime: TODAY_MS,
  })
  const { data } = main
  if (!data) {
    if (!main.isError) return <Spinner large />
    return <Failed error={main.error} pending={main.isFetching} onRetry={() => void main.refetch()} />
  }
  const oneDay = period.dari === period.sampai
  const bounds: [number, number] = [
    instantAt(period.dari, start_min, zona),
    instantAt(plusDays(period.dari, 1), start_min, zona),
  ]
  return (
    <>
      {(main.isError || !connected) && (
        <p role="status" className={styles.stale}>
          {copy.stale(main.dataUpdatedAt)}
        </p>
      )}
      <div className={styles.numbers}>
        <Hero summary={data} today={today} zone={zona} />
        {day.data && <Glance summary={day.data} name={isToday ? copy.yesterday : copy.today} zone={zona} />}
        {week.data && <Glance summary={week.data} name={copy.week} zone={zona} />}
      </div>
      <div className={styles.pair}>
        <DaysChart
          days={daysOf(around) > daysOf(period) ? (bars.data ?? data.per_hari) : data.per_hari}
          period={period}
          before={oneDay ? data.banding.dari : null}
        />
        <LookList
          summary={data}
          idoutlet={idoutlet}
          over={period.sampai < today}
          shifts={shifts.data ?? []}
        />
      </div>
      <Machines
        machines={data.per_mesin}
        bounds={oneDay ? bounds : null}
        over={period.sampai < today}
        zone={zona}
      />
      <div className={styles.cards}>
        <TopUpCard summary={data} />
        <BalanceCard summary={data} />
        <CashCard summary={data} shifts={shifts.data} zone={zona} />
        <ReturnsCard summary={data} />
        {data.koin && <CoinCard coins={data.koin} />}
      </div>
    </>
  )
}
