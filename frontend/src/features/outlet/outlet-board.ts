import { isRecord } from '@/shared/lib/session/storage'
import type { FreeMachine, OutletMachines, PublicOutlet } from './calls'

/** What a topic's message does to the known machines. */
export type Step =
  | { is: 'known'; versi: number; data: OutletMachines }
  /** A change is missing: only a snapshot helps. */
  | { is: 'gap' }

interface Message {
  status?: number
  versi: number
  server_time: number
  outlet?: PublicOutlet
  mesin?: FreeMachine[]
  hilang?: number[]
}

const isMessage = (value: unknown): value is Message =>
  isRecord(value) && typeof value.versi === 'number' && typeof value.server_time === 'number'

/** Takes a message of the topic `outlet/<id>`: a snapshot, a change, or a bare sign of life. Null for anything else. */
export function step(
  before: OutletMachines | undefined,
  versi: number | null,
  message: unknown,
): Step | null {
  if (!isMessage(message)) return null
  const { status, server_time, outlet, mesin, hilang = [] } = message
  if (status !== undefined) {
    if (status !== 200 || !outlet || !mesin) return null
    return { is: 'known', versi: message.versi, data: { outlet, server_time, mesin } }
  }
  const isBare = !mesin && !outlet && hilang.length === 0
  if (!before || versi === null || message.versi !== versi + (isBare ? 0 : 1)) return { is: 'gap' }
  const news = new Map((mesin ?? []).map((one) => [one.id, one]))
  const left = before.mesin.filter(({ id }) => !hilang.includes(id))
  // A new machine comes without its place.
  if ([...news.keys()].some((id) => left.every((one) => one.id !== id))) return { is: 'gap' }
  const data = {
    outlet: outlet ?? before.outlet,
    server_time,
    mesin: left.map((one) => news.get(one.id) ?? one),
  }
  return { is: 'known', versi: message.versi, data }
}
