import { clockThere, JAKARTA, momentThere, zoneName } from '@/till/lib/page/zone-clock'
import { useMe } from '@/till/lib/session/use-me'

/** Within this time a clock time alone says which day is meant. */
const HALF_DAY_MS = 12 * 60 * 60 * 1000

/** Moments by an outlet's clock, with the zone's name where the viewer sees outlets of several zones. */
export function useOutletMoment(idoutlet: number): (instant: string) => string {
  const outlets = useMe().data?.outlet ?? []
  const zone = outlets.find((one) => one.idoutlet === idoutlet)?.zona ?? JAKARTA
  const several = new Set(outlets.map(({ zona }) => zona)).size > 1
  return (instant) => {
    const at_ms = Date.parse(instant)
    const now_ms = Date.now()
    const near = Math.abs(at_ms - now_ms) < HALF_DAY_MS
    const moment = near ? clockThere(at_ms, zone) : momentThere(at_ms, zone, now_ms)
    return several ? `${moment} ${zoneName(zone)}` : moment
  }
}
