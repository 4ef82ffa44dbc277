import { expect, it, vi } from 'vitest'
import { ApiError, NO_NETWORK, TIMED_OUT } from '@/shared/api/error'
import { lastOf } from '@/shared/lib/text/last-of'
import { askUntilDecided } from './ask'

const lost = new ApiError(NO_NETWORK, '')

/** Runs against a server that gives these answers, the last one repeatedly; null is a 200. */
function ask(answers: (ApiError | null)[], { repeat = false, leaveAfter = Number.POSITIVE_INFINITY } = {}) {
  let asked = 0
  const pauses: [number, boolean][] = []
  const send = vi.fn(async () => {
    const answer = answers[Math.min(asked++, answers.length - 1)]
    if (answer) throw answer
  })
  const outcome = askUntilDecided({
    send,
    repeat,
    left: () => asked >= leaveAfter,
    onAgain: () => undefined,
    wait: async (pause_ms, early) => void pauses.push([pause_ms, early]),
  })
  return { outcome, send, pauses }
}

it('a first answer ends it: started, refused, or taken and not yet decided', async () => {
  expect(await ask([null]).outcome).toEqual({ kind: 'started' })
  for (const status of [400, 401, 404, 409, 422, 429]) {
    const error = new ApiError(status, 'kata server')
    expect(await ask([error]).outcome, String(status)).toEqual({ kind: 'refused', error, first: true })
  }
  for (const status of [500, 503, 504]) {
    const error = new ApiError(status, 'kata server')
    expect(await ask([error]).outcome, String(status)).toMatchObject({ kind: 'open', error })
  }
})

it('after one unanswered try only a decision ends it, whatever else is heard', async () => {
  const undecided = [400, 401, 403, 408, 429, 500, 502, 503, 504].map(
    (status) => new ApiError(status, 'kata'),
  )
  const page = [404, 409, 422].map((status) => new ApiError(status, ''))
  const answers = [lost, ...undecided, ...page, new ApiError(TIMED_OUT, '')]
  const { outcome, send } = ask([...answers, null])
  expect(await outcome).toEqual({ kind: 'started' })
  expect(send).toHaveBeenCalledTimes(answers.length + 1)
  for (const status of [404, 409, 422]) {
    const error = new ApiError(status, 'kata server')
    expect(await ask([lost, error]).outcome).toEqual({ kind: 'refused', error, first: false })
  }
})

it('a repeat, after a reload say, is never a first try', async () => {
  const error = new ApiError(409, 'mesin sedang digunakan')
  const { outcome } = ask([new ApiError(429, 'tunggu'), error], { repeat: true })
  expect(await outcome).toEqual({ kind: 'refused', error, first: false })
})

it('a page of some proxy is no answer, and a 503 that names a time is asked again then', async () => {
  expect(await ask([new ApiError(403, ''), null]).outcome).toEqual({ kind: 'started' })
  const { outcome, pauses } = ask([new ApiError(503, 'sibuk', 4_000), null])
  expect(await outcome).toEqual({ kind: 'started' })
  expect(pauses).toEqual([[4_000, false]])
})

it('the pace is bounded, and a returning network shortens only a wait nobody asked for', async () => {
  const { outcome, pauses } = ask([lost, lost, new ApiError(429, 'tunggu', 3_600_000), lost])
  expect(await outcome).toEqual({ kind: 'unknown' })
  expect(pauses.slice(0, 3)).toEqual([
    [1_000, true],
    [2_000, true],
    [60_000, false],
  ])
  expect(lastOf(pauses)).toEqual([15_000, true])
  expect(pauses.length).toBeLessThan(100)
})

it('asks no more once the customer has left', async () => {
  const { outcome, send } = ask([lost, null], { leaveAfter: 1 })
  expect(await outcome).toEqual({ kind: 'unknown' })
  expect(send).toHaveBeenCalledTimes(1)
})
