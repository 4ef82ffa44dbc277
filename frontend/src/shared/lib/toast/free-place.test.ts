import { expect, it } from 'vitest'
import { freeBottom, freeTop } from './free-place'

const span = (top: number, bottom: number) => ({ top, bottom })
const phone = span(0, 568)

it('at the top it begins where nothing is, below the notch', () => {
  expect(freeTop([], 80, phone)).toBe(8)
  expect(freeTop([], 80, span(47, 568))).toBe(55)
})

it('at the top it goes below a banner and the title under it', () => {
  expect(freeTop([span(36, 100), span(0, 36)], 80, phone)).toBe(100)
})

it('at the top it takes a gap that is high enough, and none that is not', () => {
  const kept = [span(-8, 72), span(192, 268)]
  expect(freeTop(kept, 120, phone)).toBe(72)
  expect(freeTop(kept, 121, phone)).toBe(268)
})

it('at the top it stays readable in a room without any place', () => {
  expect(freeTop([span(0, 250)], 80, span(0, 320))).toBe(8)
})

it('at the bottom it ends above the edge, the keyboard or the bar', () => {
  expect(freeBottom([], 80, phone)).toBe(556)
  expect(freeBottom([], 80, span(0, 300))).toBe(288)
  expect(freeBottom([span(480, 576)], 80, phone)).toBe(480)
})

it('at the bottom it takes the lowest gap that is high enough', () => {
  const kept = [span(500, 576), span(300, 400), span(150, 220)]
  expect(freeBottom(kept, 100, phone)).toBe(500)
  expect(freeBottom(kept, 101, phone)).toBe(150)
})

it('without any place it gives up what is least important', () => {
  const [action, field, title] = [span(500, 568), span(300, 420), span(0, 120)]
  expect(freeBottom([action, field, title], 80, phone)).toBe(500)
  expect(freeBottom([action, field, title], 200, phone)).toBe(300)
  expect(freeBottom([field, action, title], 300, phone)).toBe(556)
})

it('what is higher than the room is cut off below and not above', () => {
  expect(freeBottom([], 320, span(0, 300))).toBe(328)
})
