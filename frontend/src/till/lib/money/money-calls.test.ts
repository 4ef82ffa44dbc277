import { beforeEach, describe, expect, it } from 'vitest'
import { ApiError, NO_NETWORK, TIMED_OUT } from '@/shared/api/error'
import { cashOf, handoverOf, type MoneyRequest, refundOf } from '@/till/api/calls'
import { MoneyCalls, type OpenCall, openCalls } from './money-calls'

const RINA = 7
const HADI = 9
const USE = { idtransaksi: 'SLF261120180530123', idcustomer: 4 }
const refund = (nominal: number) => ({
  subject: 'use:4',
  what: `Refund ${nominal}`,
  request: refundOf(USE, nominal, 'Mesin rusak'),
  who: RINA,
})
const lost = () => new ApiError(NO_NETWORK, '')

type Answer = object | ApiError | Promise<object>

/** A server that gives these answers in order, the last one repeatedly, and a store that survives page loads. */
function till(...answers: Answer[]) {
  const kept = new Map<string, OpenCall>()
  const sent: { key: string; request: MoneyRequest<unknown>; izin: string | undefined; stored: boolean }[] =
    []
  let keys = 0
  const outside = {
    async send(key: string, request: MoneyRequest<unknown>, izin?: string) {
      sent.push({ key, request, izin, stored: kept.has(key) })
      const answer = answers.length > 1 ? answers.shift() : answers[0]
      if (answer instanceof ApiError) throw answer
      return answer
    },
    store: {
      all: () => [...kept.values()],
      put: (open: OpenCall) => void kept.set(open.key, open),
      remove: (key: string) => void kept.delete(key),
    },
    newKey: () => `k${++keys}`,
  }
  const page = () => new MoneyCalls(outside)
  return { calls: page(), page, kept, sent, keysSent: () => sent.map(({ key }) => key) }
}

describe('an intent', () => {
  it('is stored before it is sent, and gone with its answer', async () => {
    const { calls, sent, kept } = till({ jumlah: 8_000 })
    expect(await calls.run({ ...refund(8_000), izin: 'i1' })).toEqual({ jumlah: 8_000 })
    expect(sent).toEqual([{ key: 'k1', request: refund(8_000).request, izin: 'i1', stored: true }])
    expect(kept.size).toBe(0)
    expect(calls.open()).toEqual([])
  })

  it('that is tapped twice is sent once', async () => {
    let answer: (made: object) => void = () => undefined
    const { calls, keysSent } = till(
      new Promise<object>((resolve) => {
        answer = resolve
      }),
    )
    const both = [calls.run(refund(8_000)), calls.run(refund(8_000))]
    answer({ jumlah: 8_000 })
    expect(await Promise.all(both)).toEqual([{ jumlah: 8_000 }, { jumlah: 8_000 }])
    expect(keysSent()).toEqual(['k1'])
  })

  it('that was made or refused is over: the same once more is another one', async () => {
    for (const first of [
      { id: 1 },
      ...[400, 401, 403, 404, 409, 422, 429].map((s) => new ApiError(s, 'tidak')),
    ]) {
      const { calls, keysSent, kept } = till(first, { id: 2 })
      await calls.run(refund(8_000)).catch(() => undefined)
      expect(kept.size).toBe(0)
      await calls.run(refund(8_000))
      expect(keysSent()).toEqual(['k1', 'k2'])
    }
  })
})

describe('a lost answer', () => {
  it('keeps the key, over a reload too, until somebody says what became of it', async () => {
    for (const fault of [lost(), new ApiError(TIMED_OUT, ''), new ApiError(503, '')]) {
      const { calls, page, keysSent, kept } = till(fault, fault, { jumlah: 8_000 })
      await expect(calls.run(refund(8_000))).rejects.toBe(fault)
      await expect(calls.run(refund(8_000))).rejects.toBe(fault)
      const [open] = page().open()
      expect(open).toMatchObject({ key: 'k1', what: 'Refund 8000', who: RINA })
      expect(await page().again(open as OpenCall)).toEqual({ jumlah: 8_000 })
      expect(keysSent()).toEqual(['k1', 'k1', 'k1'])
      expect(kept.size).toBe(0)
    }
  })

  it('is not settled by an answer that did not look at it', async () => {
    for (const status of [401, 429]) {
      const { calls, kept } = till(lost(), new ApiError(status, 'sesi berakhir'))
      await calls.run(refund(8_000)).catch(() => undefined)
      await calls.run(refund(8_000)).catch(() => undefined)
      expect(kept.size, String(status)).toBe(1)
    }
  })

  it('is asked with a newer approval, when there is one', async () => {
    const { calls, sent } = till(lost(), { jumlah: 8_000 })
    await calls.run({ ...refund(8_000), izin: 'i1' }).catch(() => undefined)
    await calls.run({ ...refund(8_000), izin: 'i2' })
    expect(sent.map(({ key, izin }) => [key, izin])).toEqual([
      ['k1', 'i1'],
      ['k1', 'i2'],
    ])
  })

  it('lets nothing else about the same thing be sent, and holds up nothing besides', async () => {
    const { calls, keysSent } = till(lost(), { id: 1 })
    await calls.run(refund(8_000)).catch(() => undefined)
    await expect(calls.run(refund(5_000))).rejects.toMatchObject({ status: 409 })
    await calls.run({ ...refund(5_000), subject: 'use:5' })
    await calls.run({ ...refund(8_000), who: HADI })
    expect(keysSent()).toEqual(['k1', 'k2', 'k3'])
    expect(calls.openOf('use:4', RINA)?.key).toBe('k1')
    expect(calls.openOf('use:4', HADI)).toBeUndefined()
  })
})

describe('somebody’s PIN', () => {
  const handover = (pin: string) => ({
    subject: 'shift',
    what: 'Serah terima',
    request: handoverOf({ dihitung: 1_500, pecahan: { koin: 1_500 } }, { idpetugas: HADI, pin }),
    who: RINA,
  })

  it('that is wrong settles it, also after a lost answer: the session was still there', async () => {
    const { calls, kept, keysSent } = till(lost(), new ApiError(401, 'PIN salah, sisa 4 percobaan'), {
      id: 1,
    })
    await calls.run(handover('135790')).catch(() => undefined)
    await calls.run(handover('135790')).catch(() => undefined)
    expect(kept.size).toBe(0)
    await calls.run(handover('135791'))
    expect(keysSent()).toEqual(['k1', 'k1', 'k2'])
  })

  it('and a session that is over do not: whoever took over may be the reason', async () => {
    const { calls, kept } = till(lost(), new ApiError(401, 'sesi berakhir'))
    await calls.run(handover('135791')).catch(() => undefined)
    await calls.run(handover('135791')).catch(() => undefined)
    expect(kept.size).toBe(1)
  })
})

describe('the store', () => {
  beforeEach(() => localStorage.clear())
  const open = (request: MoneyRequest<unknown>): OpenCall => ({
    key: 'k1',
    subject: 'kas',
    what: 'Uang masuk',
    request,
    who: RINA,
    at: Date.now(),
  })

  it('outlives the page, for as long as the server knows the key', () => {
    openCalls.put(open(cashOf('masuk', 50_000, 'Tukar uang')))
    expect(openCalls.all()).toHaveLength(1)
    expect(openCalls.all(Date.now() + 15 * 24 * 3_600_000)).toEqual([])
    expect(localStorage.length).toBe(0)
  })

  it('never holds a PIN', () => {
    openCalls.put(open(handoverOf({ dihitung: 0, pecahan: {} }, { idpetugas: HADI, pin: '135791' })))
    expect(JSON.stringify(localStorage)).not.toContain('135791')
    expect(openCalls.all()).toHaveLength(1)
    openCalls.remove('k1')
    expect(openCalls.all()).toEqual([])
  })
})
