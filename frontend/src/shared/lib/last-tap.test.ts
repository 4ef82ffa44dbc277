import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { DOUBLE_TAP, ignoreTaps, lastTap } from './last-tap'

const below = document.createElement('button')
const heard = vi.fn()
below.addEventListener('click', heard)

beforeEach(() => {
  vi.useFakeTimers()
  heard.mockClear()
  document.body.append(below)
})
afterEach(() => {
  vi.runAllTimers()
  vi.useRealTimers()
  below.remove()
})

const PLACE = { x: 180, y: 700 }

/** `detail`: how often the pointer was pressed; 0 where it was a key. `beside`: so far from the place, in CSS pixels. */
const click = (detail: number, beside = 0) =>
  below.dispatchEvent(
    new MouseEvent('click', {
      bubbles: true,
      cancelable: true,
      detail,
      clientX: PLACE.x + beside,
      clientY: PLACE.y,
    }),
  )

it('a second tap reaches nothing that lay below what has gone', () => {
  ignoreTaps()
  expect(click(1)).toBe(false)
  vi.advanceTimersByTime(DOUBLE_TAP.within - 1)
  click(2)
  expect(heard).not.toHaveBeenCalled()
})

it('a later tap does', () => {
  ignoreTaps()
  vi.advanceTimersByTime(DOUBLE_TAP.within)
  click(1)
  expect(heard).toHaveBeenCalledOnce()
})

it('a key is no tap', () => {
  ignoreTaps()
  click(0)
  expect(heard).toHaveBeenCalledOnce()
})

it('where the first tap was, only what is near it', () => {
  ignoreTaps({ ...PLACE, at: performance.now() })
  expect(click(2, DOUBLE_TAP.near - 1)).toBe(false)
  expect(click(1, DOUBLE_TAP.near)).toBe(true)
  expect(heard).toHaveBeenCalledOnce()
})

it('what was no tap takes no second one', () => {
  ignoreTaps(lastTap())
  click(1)
  expect(heard).toHaveBeenCalledOnce()
})
