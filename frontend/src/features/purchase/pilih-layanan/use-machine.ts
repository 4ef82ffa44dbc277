import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { DataMesin } from '@/shared/api/model'
import { type Beat, useBeats } from '@/shared/realtime/beats'
import { serverNow } from '@/shared/realtime/clock'
import { watchMachine } from '@/shared/realtime/socket'
import { servicesQueries } from '../calls'

/** Whether it can be bought now. */
export type MachineNow =
  | { kind: 'free' }
  /** End of the run on it, epoch ms of the server; null where nobody knows. */
  | { kind: 'taken'; ends_at: number | null }
  | { kind: 'offline' }

/**
 * The machine as it is now: the server's last answer, which came at `asked_ms` of the phone's clock, or what its
 * heartbeat has said since then. Where the two disagree the server is asked again.
 */
export function useMachine(machine: DataMesin, asked_ms: number): MachineNow {
  const idmesin = String(machine.id)
  const beat = useBeats(({ beats }) => beats[idmesin])
  const news = useHeard(beat) > asked_ms ? beat : undefined
  useEffect(() => watchMachine(idmesin), [idmesin])

  const taken = machine.status === 'busy'
  const running = news ? runs(news) : taken
  useAskAgain(machine.status !== 'offline' && running !== taken, beat)
  if (machine.status === 'offline') return { kind: 'offline' }
  if (machine.status === 'idle' && !running) return { kind: 'free' }
  return { kind: 'taken', ends_at: end(machine, asked_ms, beat, news) }
}

function end(machine: DataMesin, asked_ms: number, beat?: Beat, news?: Beat): number | null {
  if (news) return runs(news) ? news.ends_at : null
  if (machine.tl === null || asked_ms === 0) return null
  // The heartbeat names the moment itself, without the time that the answer was under way.
  if (beat && beat.ends_at === machine.ends_at) return beat.ends_at
  const ahead_ms = serverNow() - Date.now()
  return asked_ms + ahead_ms + machine.tl
}

const runs = ({ over, ends_at }: Beat): boolean => !over && ends_at !== null && ends_at > serverNow()

function useAskAgain(disagrees: boolean, beat: Beat | undefined): void {
  const client = useQueryClient()
  // biome-ignore lint/correctness/useExhaustiveDependencies: each word of the machine is asked about once
  useEffect(() => {
    if (disagrees) void client.invalidateQueries(servicesQueries)
  }, [disagrees, beat, client])
}

/** When this word of the machine came, on the phone's clock; 0 for one that was kept from before. */
function useHeard(beat: Beat | undefined): number {
  const [known, setKnown] = useState({ beat, at: 0 })
  if (known.beat === beat) return known.at
  const heard = { beat, at: Date.now() }
  setKnown(heard)
  return heard.at
}
