import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { lastOf } from '@/shared/lib/text/last-of'
import { listenForScans, whenSilent } from './keyboard'

const CODE = 'NYC1.ab12.XyZ_9-q'
const EAN = '8991002101234'

const onCode = vi.fn()
const onForeign = vi.fn()
let stop: () => void

beforeEach(() => {
  vi.useFakeTimers()
  onCode.mockClear()
  onForeign.mockClear()
  stop = listenForScans(onCode, onForeign)
})
afterEach(() => {
  stop()
  vi.useRealTimers()
  document.body.replaceChildren()
})

function field(value = '') {
  const input = document.createElement('input')
  input.value = value
  document.body.append(input)
  input.focus()
  return input
}

/** Imitates a browser: an unprevented key is typed at the cursor. */
function strike(key: string): boolean {
  const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })
  const at = document.activeElement ?? document.body
  at.dispatchEvent(event)
  if (!event.defaultPrevented && key.length === 1 && at instanceof HTMLInputElement) {
    at.setRangeText(key, at.selectionStart ?? 0, at.selectionEnd ?? 0, 'end')
    at.dispatchEvent(new InputEvent('input', { bubbles: true }))
  }
  return event.defaultPrevented
}

it('leaves no letter of ours in the field that has the focus', () => {
  const input = field('Salah')
  input.setSelectionRange(5, 5)
  for (const key of [...CODE, 'Enter']) strike(key)
  expect(onCode.mock.calls).toEqual([[CODE]])
  expect(input.value).toBe('Salah')
})

it('takes a foreign code back out of a field, with its selection, and tells the field', () => {
  const input = field('A10B')
  input.setSelectionRange(1, 3)
  const onInput = vi.fn()
  input.addEventListener('input', onInput)
  for (const key of [...EAN, 'Enter']) strike(key)
  expect(onForeign).toHaveBeenCalledOnce()
  expect(input.value).toBe('A10B')
  expect([input.selectionStart, input.selectionEnd]).toEqual([1, 3])
  expect(onInput).toHaveBeenCalledTimes(8)
})

it('presses no button with the Enter of a scan', () => {
  const button = document.createElement('button')
  document.body.append(button)
  button.focus()
  expect(lastOf([...EAN, 'Enter'].map(strike))).toBe(true)
  expect(onForeign).toHaveBeenCalledOnce()
})

it('leaves to a hand what it types, and what it sends', () => {
  const input = field()
  for (const key of '1234567') expect(strike(key)).toBe(false)
  expect(input.value).toBe('1234567')
  const send = vi.fn()
  whenSilent(send)
  vi.advanceTimersByTime(149)
  expect(send).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(send).toHaveBeenCalledOnce()
  expect(onForeign).not.toHaveBeenCalled()
})
