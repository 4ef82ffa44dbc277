import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { DOUBLE_TAP, ignoreTaps } from './last-tap'

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

/** `detail`: how often the pointer was pressed; 0 where it was a key. */
const click = (detail: number) =>
  below.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, detail }))

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
