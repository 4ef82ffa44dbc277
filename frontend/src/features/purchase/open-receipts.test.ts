import { afterEach, expect, it, vi } from 'vitest'
import { anyOpen, forgetOpen, isOpen, rememberOpen } from './open-receipts'

const NOW = Date.parse('2026-11-20T10:00:00Z')
const MINUTE_MS = 60_000
const A = 'SLF261120170000001'
const B = 'SLF261120170000002'

afterEach(() => localStorage.clear())

it('remembers each receipt, so that the end of one says nothing about the other', () => {
  rememberOpen('7', A, NOW)
  rememberOpen('7', B, NOW + 1)
  forgetOpen('7', B)
  expect(anyOpen('7', NOW + 2)).toBe(true)
  expect(isOpen('7', A, NOW + 2)).toBe(true)
  expect(isOpen('7', B, NOW + 2)).toBe(false)
  forgetOpen('7', A)
  expect(anyOpen('7', NOW + 2)).toBe(false)
})

it('holds until the server has surely decided, counted from the last time it was sent', () => {
  rememberOpen('7', A, NOW)
  rememberOpen('7', A, NOW + 10 * MINUTE_MS)
  expect(anyOpen('7', NOW + 29 * MINUTE_MS)).toBe(true)
  expect(anyOpen('7', NOW + 30 * MINUTE_MS)).toBe(false)
  expect(localStorage.length).toBe(0)
})

it('is of one customer', () => {
  rememberOpen('7', A, NOW)
  expect(anyOpen('70', NOW)).toBe(false)
  expect(anyOpen('', NOW)).toBe(false)
  forgetOpen('70', A)
  expect(anyOpen('7', NOW)).toBe(true)
})

it('has an end, the oldest first, and drops what is broken', () => {
  for (let i = 0; i < 100; i++) rememberOpen('7', `SLF${String(i).padStart(15, '0')}`, NOW + i)
  expect(localStorage.length).toBe(64)
  expect(isOpen('7', `SLF${'99'.padStart(15, '0')}`, NOW + 100)).toBe(true)
  localStorage.clear()
  localStorage.setItem(`nyala.open.7.${A}`, '"x"')
  expect(anyOpen('7', NOW)).toBe(false)
  expect(localStorage.length).toBe(0)
})

it('knows what it can where storage is forbidden', () => {
  const refuse = () => {
    throw new DOMException('no', 'SecurityError')
  }
  const forbidden = { getItem: refuse, setItem: refuse, removeItem: refuse } as unknown as Storage
  const storage = vi.spyOn(window, 'localStorage', 'get').mockReturnValue(forbidden)
  rememberOpen('7', A, NOW)
  expect(anyOpen('7', NOW)).toBe(true)
  forgetOpen('7', A)
  expect(anyOpen('7', NOW)).toBe(false)
  storage.mockRestore()
})
