import { useEffect, useState } from 'react'
import { isRecord, slot } from '@/shared/lib/session/storage'

/** Time between two codes for the same number and purpose (docs/product.md §9). */
const COOLDOWN_MS = 60_000

export type Purpose = 'register' | 'forgot' | 'password' | 'move'

type SentTimes = Record<string, number>

const sent = slot<SentTimes>(
  'session',
  'nyala.kode',
  (value): value is SentTimes =>
    isRecord(value) && Object.values(value).every((at) => typeof at === 'number'),
)

const key = (purpose: Purpose, telp: string) => `${purpose}:${telp}`

/** Records that a code was sent now. Kept for the session, so that a reload continues the countdown. */
export function codeSent(purpose: Purpose, telp: string, now = Date.now()): void {
  sent.write({ ...sent.read(), [key(purpose, telp)]: now })
}

export function forgetCode(purpose: Purpose, telp: string): void {
  const rest = { ...sent.read() }
  delete rest[key(purpose, telp)]
  sent.write(rest)
}

/** Whether this tab has recorded a sent code. */
function codeWasSent(purpose: Purpose, telp: string): boolean {
  return sent.read()?.[key(purpose, telp)] !== undefined
}

/** Milliseconds until another code may be requested, 0 when it may now. */
export function cooldownLeft(purpose: Purpose, telp: string, now = Date.now()): number {
  const at = sent.read()?.[key(purpose, telp)]
  if (at === undefined || at > now) return 0
  return Math.max(0, COOLDOWN_MS - (now - at))
}

interface Cooldown {
  left_ms: number
  /** A code was sent, now or earlier. */
  wasSent: boolean
  restart: () => void
}

/** The countdown of a code step, ticking every second; `restart` after a code was sent. */
export function useCooldown(purpose: Purpose, telp: string): Cooldown {
  const [left_ms, setLeft] = useState(() => cooldownLeft(purpose, telp))
  useEffect(() => {
    if (left_ms <= 0) return
    const untilNextSecond = left_ms % 1000 || 1000
    const timer = setTimeout(() => setLeft(cooldownLeft(purpose, telp)), untilNextSecond)
    return () => clearTimeout(timer)
  }, [left_ms, purpose, telp])
  return {
    left_ms,
    wasSent: codeWasSent(purpose, telp),
    restart() {
      codeSent(purpose, telp)
      setLeft(COOLDOWN_MS)
    },
  }
}
