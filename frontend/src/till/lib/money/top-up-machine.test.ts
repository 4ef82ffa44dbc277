import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ApiError, NO_NETWORK, TIMED_OUT } from '@/shared/api/error'
import type { TopUpBody, TopUpMade } from '@/till/api/types'
import { type OpenTopUp, SCHEDULE, TopUpMachine } from './top-up-machine'

const RINA = { id: 7, nama: 'Rina' }
const HADI = { id: 9, nama: 'Hadi' }
const BODY: TopUpBody = { id_customer_global: 3, idoutlet: 1, nominal: 50_000, cara_bayar: 'tunai' }
const SITI = { nama: 'Siti R.', typed: null, gained: 50_000 }
const MADE = { idpembelian_emoney: '10482', idcustomer: 5, saldo_akhir: 85_000, nama: 'Siti R.' } as TopUpMade

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

type Answer = TopUpMade | Promise<TopUpMade> | ApiError | 'never'
const lost = () => new ApiError(NO_NETWORK, '')

/** A transport that gives these answers in order, the last one repeatedly, and a store that survives machines. */
function till(...answers: Answer[]) {
  const kept = new Map<string, OpenTopUp>()
  const sent: { key: string; izin: string | undefined; stored: boolean }[] = []
  let keys = 0
  const outside = {
    async send(key: string, _: TopUpBody, izin?: string) {
      sent.push({ key, izin, stored: kept.has(key) })
      const answer = answers.length > 1 ? answers.shift() : answers[0]
      if (answer === 'never' || answer === undefined) return new Promise<never>(() => undefined)
      if (answer instanceof ApiError) throw answer
      return answer
    },
    store: {
      all: () => [...kept.values()],
      put: (open: OpenTopUp) => void kept.set(open.key, open),
      remove: (key: string) => void kept.delete(key),
    },
    newKey: () => `k${++keys}`,
  }
  const open = (who: typeof RINA | null = RINA) => {
    const machine = new TopUpMachine(outside)
    machine.enter(who)
    return machine
  }
  return { open, kept, sent, keysSent: () => sent.map(({ key }) => key) }
}

const settle = () => vi.advanceTimersByTimeAsync(0)
const allPauses = () => vi.advanceTimersByTimeAsync(SCHEDULE.pauses_ms.reduce((sum, ms) => sum + ms, 0))

describe('an answer', () => {
  it('ends it; it was stored before it was sent', async () => {
    const { open, sent, kept } = till(MADE)
    const machine = open()
    machine.start(BODY, SITI)
    expect(machine.state.is).toBe('asking')
    await settle()
    expect(machine.state).toMatchObject({ is: 'made', made: MADE })
    expect(sent).toEqual([{ key: 'k1', izin: undefined, stored: true }])
    expect(kept.size).toBe(0)
  })

  it('that refuses ends it too, and the next one has a key of its own', async () => {
    for (const status of [400, 401, 403, 404, 409, 422, 429]) {
      const { open, kept, keysSent } = till(new ApiError(status, 'tidak'), MADE)
      const machine = open()
      machine.start(BODY, SITI)
      await settle()
      expect(machine.state, String(status)).toMatchObject({ is: 'refused', error: { status } })
      expect(kept.size).toBe(0)
      machine.done()
      machine.start(BODY, SITI)
      await settle()
      expect(keysSent()).toEqual(['k1', 'k2'])
    }
  })

  it('that wants an approval is asked for again by the same key, with it', async () => {
    const { open, sent, kept } = till(new ApiError(403, 'perlu persetujuan'), lost(), MADE)
    const machine = open()
    machine.start(BODY, SITI)
    await settle()
    machine.approve('izin-1')
    await settle()
    expect(kept.size).toBe(1)
    await allPauses()
    expect(machine.state.is).toBe('made')
    expect(sent.map(({ key, izin }) => [key, izin])).toEqual([
      ['k1', undefined],
      ['k1', 'izin-1'],
      ['k1', 'izin-1'],
    ])
  })
})

describe('no answer', () => {
  it('is asked again by the same key, with growing pauses, until one comes', async () => {
    const { open, keysSent, kept } = till(lost(), new ApiError(TIMED_OUT, ''), new ApiError(503, ''), MADE)
    const machine = open()
    machine.start(BODY, SITI)
    await settle()
    for (const [i, pause_ms] of [1_000, 2_000, 4_000].entries()) {
      expect(machine.state).toMatchObject({ is: 'waiting', asked: i + 1 })
      await vi.advanceTimersByTimeAsync(pause_ms - 1)
      expect(keysSent()).toHaveLength(i + 1)
      await vi.advanceTimersByTimeAsync(1)
    }
    expect(machine.state.is).toBe('made')
    expect(new Set(keysSent())).toEqual(new Set(['k1']))
    expect(kept.size).toBe(0)
  })

  it('is not asked for ever, but again when the line is back', async () => {
    const { open, keysSent, kept } = till(lost())
    const machine = open()
    machine.start(BODY, SITI)
    await allPauses()
    expect(machine.state.is).toBe('unknown')
    await vi.advanceTimersByTimeAsync(3_600_000)
    expect(keysSent()).toHaveLength(SCHEDULE.pauses_ms.length + 1)
    expect(kept.size).toBe(1)
    machine.again()
    await allPauses()
    expect(keysSent()).toHaveLength(2 * (SCHEDULE.pauses_ms.length + 1))
  })

  it('a line that is back while it waits asks at once, and once', async () => {
    const { open, keysSent } = till(lost(), 'never')
    const machine = open()
    machine.start(BODY, SITI)
    await settle()
    machine.again()
    machine.again()
    await allPauses()
    expect(keysSent()).toEqual(['k1', 'k1'])
  })

  it('a refusal that comes before it is looked at says nothing about the first try', async () => {
    for (const status of [401, 429]) {
      const { open, kept } = till(lost(), new ApiError(status, ''), 'never')
      const machine = open()
      machine.start(BODY, SITI)
      await vi.advanceTimersByTimeAsync(1_000)
      expect(machine.state.is, String(status)).toBe(status === 401 ? 'unknown' : 'waiting')
      expect(kept.size).toBe(1)
    }
  })

  it('waits for as long as the server wants', async () => {
    const { open, keysSent } = till(lost(), new ApiError(429, '', 20_000), MADE)
    open().start(BODY, SITI)
    await vi.advanceTimersByTimeAsync(20_999)
    expect(keysSent()).toHaveLength(2)
    await vi.advanceTimersByTimeAsync(1)
    expect(keysSent()).toHaveLength(3)
  })

  it('lets nothing else be sent meanwhile', async () => {
    const { open, keysSent, kept } = till(lost(), 'never')
    const machine = open()
    machine.start(BODY, SITI)
    await settle()
    machine.start({ ...BODY, nominal: 1 }, { ...SITI, nama: 'Budi S.' })
    machine.done()
    expect(keysSent()).toEqual(['k1'])
    expect(kept.size).toBe(1)
  })
})

describe('people', () => {
  it('after a reload whoever sent it hears what became of it', async () => {
    const { open, keysSent } = till('never', MADE)
    open().start(BODY, { ...SITI, typed: '081234567890', gained: 55_000 })
    const later = open()
    await settle()
    const details = { nama: 'Siti R.', typed: '081234567890', gained: 55_000 }
    expect(later.state).toMatchObject({ is: 'made', open: details })
    expect(keysSent()).toEqual(['k1', 'k1'])
  })

  it('nobody asks for another’s, and each may send their own', async () => {
    const { open, keysSent, kept } = till(lost(), MADE)
    const machine = open(RINA)
    machine.start(BODY, SITI)
    await settle()
    machine.enter(null)
    machine.enter(HADI)
    expect(machine.state.is).toBe('free')
    await allPauses()
    expect(keysSent()).toEqual(['k1'])
    machine.start(BODY, { ...SITI, nama: 'Budi S.' })
    await settle()
    expect(machine.state).toMatchObject({ is: 'made', open: { who: HADI } })
    expect([...kept.values()].map(({ who }) => who)).toEqual([RINA])
    machine.enter(null)
    machine.enter(RINA)
    await settle()
    expect(machine.state).toMatchObject({ is: 'made', open: { key: 'k1', who: RINA } })
    expect(kept.size).toBe(0)
  })

  it('a late answer after the lock is still an answer, and not the next person’s', async () => {
    let answer: (made: TopUpMade) => void = () => undefined
    const { open, kept } = till(
      new Promise<TopUpMade>((resolve) => {
        answer = resolve
      }),
    )
    const machine = open(RINA)
    machine.start(BODY, SITI)
    machine.enter(null)
    machine.enter(HADI)
    answer(MADE)
    await settle()
    expect(machine.state.is).toBe('free')
    expect(kept.size).toBe(0)
  })

  it('is asked for by one round only when its person comes back while it is in flight', async () => {
    let fail: (error: ApiError) => void = () => undefined
    const first = new Promise<TopUpMade>((_, reject) => {
      fail = reject
    })
    const { open, keysSent } = till(first, lost())
    const machine = open(RINA)
    machine.start(BODY, SITI)
    machine.enter(null)
    machine.enter(HADI)
    machine.enter(RINA)
    await settle()
    fail(lost())
    await settle()
    await allPauses()
    expect(keysSent()).toHaveLength(1 + 1 + SCHEDULE.pauses_ms.length)
    machine.enter(null)
    machine.enter(HADI)
    await allPauses()
    expect(keysSent()).toHaveLength(1 + 1 + SCHEDULE.pauses_ms.length)
  })

  it('of somebody who has locked is not asked on', async () => {
    const { open, keysSent } = till(lost())
    const machine = open(RINA)
    machine.start(BODY, SITI)
    await settle()
    machine.enter(null)
    await allPauses()
    expect(keysSent()).toHaveLength(1)
    machine.again()
    expect(keysSent()).toHaveLength(1)
    expect(machine.state.is).toBe('unknown')
  })
})
