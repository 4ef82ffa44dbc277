import { expect, it } from 'vitest'
import { ApiError, jelaskan, NO_NETWORK, penjelasan, TIMED_OUT } from './error'

it('every failure says what happened, and those of the moment what to do', () => {
  for (const status of [NO_NETWORK, TIMED_OUT, 500, 503]) {
    expect(jelaskan(new ApiError(status, '')).isi).toMatch(/coba lagi/i)
  }
  expect(jelaskan(new ApiError(409, 'mesin sedang digunakan'))).toEqual({ judul: 'mesin sedang digunakan' })
})

it('under a title of the specification both are lines', () => {
  expect(penjelasan(new ApiError(503, 'sistem sibuk'))).toEqual(['sistem sibuk', 'Coba lagi sebentar lagi.'])
  expect(penjelasan(new ApiError(429, 'tunggu 30 detik'))).toEqual(['tunggu 30 detik'])
})
