import { describe, expect, it, vi } from 'vitest'
import { ApiError, OVERLOADED } from '@/shared/api/error'
import { pauseBefore, type Schedule, untilDecided } from './until-decided'

const SHORT: Schedule = { pauses_ms: [10, 20], after: 'stop' }
const lost = () => new ApiError(503, 'sibuk')

describe('a schedule', () => {
  it('ends, or repeats its last pause', () => {
    expect([0, 1, 2].map((repeat) => pauseBefore(SHORT, repeat))).toEqual([10, 20, null])
    expect([0, 1, 2, 9].map((repeat) => pauseBefore({ ...SHORT, after: 'repeat' }, repeat))).toEqual([
      10, 20, 20, 20,
    ])
  })
})

describe('a call', () => {
  const call = { maybeMade: false, isDecided: (error: ApiError) => error.status === 422, schedule: SHORT }

  it('is sent until an answer comes', async () => {
    const send = vi.fn().mockRejectedValueOnce(lost()).mockResolvedValueOnce('done')
    const waited: number[] = []
    const wait = async (pause_ms: number) => waited.push(pause_ms) > 0
    expect(await untilDecided({ ...call, send, wait })).toEqual({ is: 'answered', answer: 'done' })
    expect(waited).toEqual([10])
  })

  it('knows whether an earlier attempt may have been made when it is refused', async () => {
    const refused = new ApiError(422, 'saldo tidak mencukupi')
    const wait = async () => true
    const at_once = vi.fn().mockRejectedValue(refused)
    expect(await untilDecided({ ...call, send: at_once, wait })).toEqual({
      is: 'refused',
      error: refused,
      first: true,
    })
    const later = vi.fn().mockRejectedValueOnce(lost()).mockRejectedValue(refused)
    expect(await untilDecided({ ...call, send: later, wait })).toEqual({
      is: 'refused',
      error: refused,
      first: false,
    })
  })

  it('was not made by an attempt that the overloaded server refused', async () => {
    const refused = new ApiError(422, 'saldo tidak mencukupi')
    const send = vi
      .fn()
      .mockRejectedValueOnce(new ApiError(503, OVERLOADED, 1_000))
      .mockRejectedValue(refused)
    const wait = async () => true
    expect(await untilDecided({ ...call, send, wait })).toEqual({
      is: 'refused',
      error: refused,
      first: true,
    })
  })

  it('stays open when the schedule or the caller ends it', async () => {
    const send = vi.fn().mockRejectedValue(lost())
    expect(await untilDecided({ ...call, send, wait: async () => true })).toEqual({ is: 'open' })
    expect(send).toHaveBeenCalledTimes(3)
    expect(await untilDecided({ ...call, send, wait: async () => false })).toEqual({ is: 'open' })
    expect(send).toHaveBeenCalledTimes(4)
  })
})
