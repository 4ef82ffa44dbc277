import { expect, it } from 'vitest'
import { ApiError, explain, explanation, NO_NETWORK, TIMED_OUT } from './error'

it('every failure says what happened, and those of the moment what to do', () => {
  for (const status of [NO_NETWORK, TIMED_OUT, 500, 503]) {
    expect(explain(new ApiError(status, '')).body).toMatch(/coba lagi/i)
  }
  expect(explain(new ApiError(409, 'mesin sedang digunakan'))).toEqual({ title: 'mesin sedang digunakan' })
})

it('under a title of the specification both are lines', () => {
  expect(explanation(new ApiError(503, 'sistem sibuk'))).toEqual(['sistem sibuk', 'Coba lagi sebentar lagi.'])
  expect(explanation(new ApiError(429, 'tunggu 30 detik'))).toEqual(['tunggu 30 detik'])
})
