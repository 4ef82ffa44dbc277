import { expect, it } from 'vitest'
import { ApiError, NO_NETWORK, TIMED_OUT } from '@/shared/api/error'
import { worthRetrying } from './query'

it('tries twice again after a lost connection and a fault of the server', () => {
  for (const status of [NO_NETWORK, 500, 503]) {
    expect([0, 1, 2].map((count) => worthRetrying(count, new ApiError(status, '')))).toEqual([
      true,
      true,
      false,
    ])
  }
})

it('tells a refusal, and a wait that ran out, at once', () => {
  for (const status of [400, 401, 404, 429, TIMED_OUT]) {
    expect(worthRetrying(0, new ApiError(status, ''))).toBe(false)
  }
})
