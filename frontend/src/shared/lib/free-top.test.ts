import { expect, it } from 'vitest'
import { freeTop } from './free-top'

const span = (top: number, bottom: number) => ({ top, bottom })

it('begins at the top when nothing is there, below the notch', () => {
  expect(freeTop([], 80, 0, 568)).toBe(8)
  expect(freeTop([], 80, 47, 568)).toBe(55)
})

it('goes below a banner and the title under it', () => {
  expect(freeTop([span(36, 100), span(0, 36)], 80, 0, 568)).toBe(108)
})

it('takes a gap that is high enough, and none that is not', () => {
  const sheet = span(200, 260)
  expect(freeTop([span(0, 64), sheet], 80, 0, 568)).toBe(72)
  expect(freeTop([span(0, 64), sheet], 121, 0, 568)).toBe(268)
})

it('stays readable on a screen without any place', () => {
  expect(freeTop([span(0, 250)], 80, 0, 320)).toBe(8)
})
