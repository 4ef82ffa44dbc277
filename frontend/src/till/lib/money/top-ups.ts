import { useSyncExternalStore } from 'react'
import { isRecord, keysOf, slot } from '@/shared/lib/session/storage'
import { topUp } from '@/till/api/calls'
import { newCallKey } from '@/till/lib/money/call-key'
import { type OpenTopUp, TopUpMachine, type TopUpState } from '@/till/lib/money/top-up-machine'

const PREFIX = 'nyala.kasir.top-up.'

/** The server drops a key after thirty days: a later repeat would be another top-up. */
const KEPT_MS = 14 * 24 * 3_600_000

/** A separate storage key per top-up, so that two tabs do not overwrite each other. */
const place = (key: string) =>
  slot<OpenTopUp>(
    'local',
    PREFIX + key,
    (value): value is OpenTopUp =>
      isRecord(value) &&
      value.key === key &&
      typeof value.at === 'number' &&
      typeof value.nama === 'string' &&
      typeof value.gained === 'number' &&
      (value.typed === null || typeof value.typed === 'string') &&
      isRecord(value.who) &&
      typeof value.who.id === 'number' &&
      isRecord(value.body) &&
      typeof value.body.nominal === 'number',
  )

export const openTopUps = {
  /** The open top-ups, oldest first. */
  all(now = Date.now()): OpenTopUp[] {
    return keysOf('local', PREFIX)
      .flatMap((key) => {
        const at = place(key.slice(PREFIX.length))
        const open = at.read()
        if (open && Math.abs(now - open.at) < KEPT_MS) return [open]
        at.clear()
        return []
      })
      .sort((a, b) => a.at - b.at)
  },
  put: (open: OpenTopUp) => void place(open.key).write(open),
  remove: (key: string) => place(key).clear(),
}

/** The till's top-up of this tab. */
export const topUps = new TopUpMachine({ send: topUp, store: openTopUps, newKey: newCallKey })

export const useTopUpState = (): TopUpState => useSyncExternalStore(topUps.subscribe, () => topUps.state)

/** Open top-ups of all members of staff on this browser. Rendered again when one starts or ends, in another tab too. */
export function useOpenTopUps(): OpenTopUp[] {
  const text = useSyncExternalStore(subscribe, () => JSON.stringify(openTopUps.all()))
  return JSON.parse(text) as OpenTopUp[]
}

function subscribe(listener: () => void): () => void {
  const forget = topUps.subscribe(listener)
  window.addEventListener('storage', listener)
  return () => {
    forget()
    window.removeEventListener('storage', listener)
  }
}
