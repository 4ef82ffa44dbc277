import { beforeEach, expect, it } from 'vitest'
import { clearPrivate } from '@/shared/lib/session/storage'
import { keepPlace, placeOf } from './place'

const place = { pages: 3, entry: 'snap_transaksi-SLF1-1', top: 120 }

beforeEach(() => sessionStorage.clear())

it('remembers each visit by itself, the last word of it', () => {
  keepPlace('a', { ...place, top: 7 })
  keepPlace('b', place)
  keepPlace('a', { ...place, pages: 1 })
  expect(placeOf('a')).toEqual({ ...place, pages: 1 })
  expect(placeOf('b')).toEqual(place)
  expect(placeOf('c')).toBeNull()
})

it('forgets old visits, and all with the session', () => {
  for (let visit = 0; visit <= 10; visit++) keepPlace(String(visit), place)
  expect(placeOf('0')).toBeNull()
  expect(placeOf('1')).toEqual(place)
  clearPrivate()
  expect(placeOf('10')).toBeNull()
})

it('loads no list again that has no end', () => {
  keepPlace('a', { ...place, pages: 4_000 })
  expect(placeOf('a')?.pages).toBe(25)
})

it('is nowhere when somebody else wrote there', () => {
  keepPlace('a', place)
  const [key] = Object.keys(sessionStorage)
  for (const text of ['{', '{}', '[["a"]]', '[["a",{"pages":"3"}]]']) {
    sessionStorage.setItem(key ?? '', text)
    expect(placeOf('a')).toBeNull()
  }
})
