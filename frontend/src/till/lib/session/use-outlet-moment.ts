import { JAKARTA, momentThere, zoneName } from '@/till/lib/page/zone-clock'
import { useMe } from '@/till/lib/session/use-me'

/** Moments by an outlet's clock, with the zone's name where the viewer sees outlets of several zones. */
export function useOutletMoment(idoutlet: number): (instant: string) => string {
  const outlets = useMe().data?.outlet ?? []
  const zone = outlets.find((one) => one.idoutlet === idoutlet)?.zona ?? JAKARTA
  const several = new Set(outlets.map(({ zona }) => zona)).size > 1
  return (instant) => {
    const moment = momentThere(Date.parse(instant), zone, Date.now())
    return several ? `${moment} ${zoneName(zone)}` : moment
  }
}
