import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { DOUBLE_TAP, followTaps, ignoreTaps } from './last-tap'

const above = document.createElement('button')
const below = document.createElement('button')
const onClick = vi.fn()
below.addEventListener('click', onClick)

beforeAll(followTaps)
beforeEach(() => {
  vi.useFakeTimers()
  onClick.mockClear()
  document.body.append(above, below)
})
afterEach(() => {
  vi.runAllTimers()
  // The first tap of a test must not count as a second one.
  press(document.body, { beside: 1_000 })
  vi.useRealTimers()
  above.remove()
  below.remove()
})

const PLACE = { x: 180, y: 700 }

interface How {
  /** The input device; a key by default. */
  by?: 'touch' | 'mouse' | 'key'
  /** Distance from the place, in CSS pixels. */
  beside?: number
  /** Click count of the pointer, according to its system. */
  detail?: number
}

function press(target: Element, { by = 'touch', beside = 0, detail = 1 }: How = {}) {
  const about = { bubbles: true, cancelable: true, clientX: PLACE.x + beside, clientY: PLACE.y }
  if (by !== 'key') target.dispatchEvent(new PointerEvent('pointerdown', { ...about, pointerType: by }))
  return target.dispatchEvent(new MouseEvent('click', { ...about, detail: by === 'key' ? 0 : detail }))
}

/** A first tap that removes its target. */
function removeTarget() {
  press(above)
  above.remove()
}

it('a second tap reaches nothing that has come to the place of what the first one hit, and no third', () => {
  removeTarget()
  vi.advanceTimersByTime(DOUBLE_TAP.within - 1)
  expect(press(below)).toBe(false)
  vi.advanceTimersByTime(DOUBLE_TAP.within - 1)
  press(below)
  expect(onClick).not.toHaveBeenCalled()
})

it('nor where a sheet has stepped back in the history to go', () => {
  removeTarget()
  window.dispatchEvent(new Event('popstate'))
  press(below)
  expect(onClick).not.toHaveBeenCalled()
})

it('a later one does, and one elsewhere', () => {
  removeTarget()
  press(below, { beside: DOUBLE_TAP.near })
  expect(onClick).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(DOUBLE_TAP.within)
  press(below)
  expect(onClick).toHaveBeenCalledTimes(2)
})

it('what is still there is tapped as often as one likes', () => {
  press(below)
  press(below)
  expect(onClick).toHaveBeenCalledTimes(2)
})

it('a part of a button that changes is no button that has gone', () => {
  const part = document.createElement('span')
  below.append(part)
  press(part)
  part.remove()
  press(below)
  expect(onClick).toHaveBeenCalledTimes(2)
})

it('a mouse is kept from it where its system says that it clicked twice', () => {
  press(above, { by: 'mouse' })
  above.remove()
  press(below, { by: 'mouse', detail: 2 })
  expect(onClick).not.toHaveBeenCalled()
  press(below, { by: 'mouse' })
  expect(onClick).toHaveBeenCalledOnce()
})

it('a key is no tap', () => {
  removeTarget()
  press(below, { by: 'key' })
  ignoreTaps()
  press(below, { by: 'key' })
  expect(onClick).toHaveBeenCalledTimes(2)
})

it('after a reload no tap is heard anywhere for so long as a second one takes', () => {
  ignoreTaps()
  expect(press(below)).toBe(false)
  vi.advanceTimersByTime(DOUBLE_TAP.within - 1)
  press(below, { detail: 2 })
  expect(onClick).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  press(below)
  expect(onClick).toHaveBeenCalledOnce()
})
