import { expect, it } from 'vitest'
import { codePicker } from './pick-code'

const QRIS = '00020101021126610014COM.GO-JEK.WWW'
const isOurs = (text: string) => text.startsWith('NYM1.')
const ours = (text: string) => ({ is: 'ours', text })
const FOREIGN = { is: 'foreign' }

it('takes ours wherever it stands among the others, and says nothing of them', () => {
  const pick = codePicker([isOurs])
  expect(pick([QRIS, 'https://example.com', 'NYM1.a'], 0)).toEqual(ours('NYM1.a'))
  for (let now = 100; now < 5_000; now += 100) expect(pick([QRIS, 'NYM1.a'], now)).toBeNull()
})

it('says that only others are there once a few looks have seen nothing else, and not again at once', () => {
  const pick = codePicker([isOurs])
  const picked = Array.from({ length: 40 }, (_, look) => pick([QRIS], look * 150))
  expect(picked.filter((one) => one !== null)).toEqual([FOREIGN])
  expect(picked.slice(0, 2)).toEqual([null, null])
  expect(pick([QRIS], 6_500)).toEqual(FOREIGN)
})

it('a neighbour that is read first, until ours is sharp, is not told', () => {
  const pick = codePicker([isOurs])
  expect([pick([QRIS], 0), pick([QRIS], 150), pick(['NYM1.a', QRIS], 300)]).toEqual([
    null,
    null,
    ours('NYM1.a'),
  ])
})

it('ours that was just taken is not taken again because another one was seen in between', () => {
  const pick = codePicker([isOurs])
  expect(pick(['NYM1.a'], 0)).toEqual(ours('NYM1.a'))
  for (let look = 1; look <= 5; look++) pick([QRIS], look * 150)
  expect(pick([QRIS, 'NYM1.a'], 1_000)).toBeNull()
  expect(pick([QRIS, 'NYM1.a'], 6_000)).toEqual(ours('NYM1.a'))
})

it('of two of ours the second has its turn after the first', () => {
  const pick = codePicker([isOurs])
  expect(pick(['NYM1.old', 'NYM1.new'], 0)).toEqual(ours('NYM1.old'))
  expect(pick(['NYM1.old', 'NYM1.new'], 2_000)).toEqual(ours('NYM1.new'))
})

it('a code of the first kind goes before one of the next, in any order', () => {
  const pick = codePicker([(text) => text.startsWith('NYC1.'), isOurs])
  expect(pick([QRIS, 'NYM1.a', 'NYC1.b'], 0)).toEqual(ours('NYC1.b'))
  expect(codePicker([(text) => text.startsWith('NYC1.'), isOurs])(['NYM1.a', QRIS], 0)).toEqual(
    ours('NYM1.a'),
  )
})
