import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { DataMesin } from '@/shared/api/model'
import { serverNow } from '@/shared/realtime/clock'
import { watchMachine } from '@/shared/realtime/socket'
import { type Tick, useTicks } from '@/shared/realtime/ticks'
import { servicesQueries } from '../calls'

/** Whether the machine can be bought now. */
export type MachineNow =
  | { kind: 'free' }
  /** End of its cycle, epoch ms of the server; null where it is unknown. */
  | { kind: 'taken'; ends_at: number | null }
  | { kind: 'offline' }
  /** The whole outlet; `until` is when it opens, by the server's clock; null when that is not known. */
  | { kind: 'closed'; reason: string; until: string | null }

/**
 * The machine's current state: the server's last answer, received at `asked_ms` of the phone's clock, or a later heartbeat of the
 * machine. Where the two disagree, the server is asked again.
 */
export function useMachine(machine: DataMesin, asked_ms: number): MachineNow {
  const idmesin = String(machine.id)
  const tick = useTicks(({ ticks }) => ticks[idmesin])
  const newer = useReceivedAt(tick) > asked_ms ? tick : undefined
  useEffect(() => watchMachine(idmesin), [idmesin])

  const taken = machine.status === 'busy'
  const running = newer ? runs(newer) : taken
  useAskAgain(machine.status !== 'offline' && running !== taken, tick)
  // A choice that was stored by an earlier version has no `tutup`.
  const { tutup } = machine.outlet
  if (tutup) return { kind: 'closed', reason: tutup.alasan, until: tutup.sampai }
  if (machine.status === 'offline') return { kind: 'offline' }
  if (machine.status === 'idle' && !running) return { kind: 'free' }
  return { kind: 'taken', ends_at: end(machine, asked_ms, tick, newer) }
}

function end(machine: DataMesin, asked_ms: number, tick?: Tick, newer?: Tick): number | null {
  if (newer) return runs(newer) ? newer.ends_at : null
  if (machine.tl === null || asked_ms === 0) return null
  // The heartbeat contains the end itself, without the delay of the answer.
  if (tick && tick.ends_at === machine.ends_at) return tick.ends_at
  const ahead_ms = serverNow() - Date.now()
  return asked_ms + ahead_ms + machine.tl
}

const runs = ({ over, ends_at }: Tick): boolean => !over && ends_at !== null && ends_at > serverNow()

function useAskAgain(disagrees: boolean, tick: Tick | undefined): void {
  const client = useQueryClient()
  // biome-ignore lint/correctness/useExhaustiveDependencies: each heartbeat of the machine causes one request
  useEffect(() => {
    if (disagrees) void client.invalidateQueries(servicesQueries)
  }, [disagrees, tick, client])
}

/** Arrival time of this heartbeat on the phone's clock; 0 for one from before this screen. */
function useReceivedAt(tick: Tick | undefined): number {
  const [known, setKnown] = useState({ tick, at: 0 })
  if (known.tick === tick) return known.at
  const received = { tick, at: Date.now() }
  setKnown(received)
  return received.at
}
