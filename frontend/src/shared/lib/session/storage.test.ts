import { afterEach, expect, it, vi } from 'vitest'
import { clearPrivate, PRIVATE_PREFIX, slot } from './storage'

const isNumber = (value: unknown): value is number => typeof value === 'number'

afterEach(() => {
  localStorage.clear()
  sessionStorage.clear()
})

it('gives back what was written, until cleared', () => {
  const one = slot('local', 'a', isNumber)
  expect(one.read()).toBeNull()
  one.write(7)
  expect(slot('local', 'a', isNumber).read()).toBe(7)
  one.clear()
  expect(one.read()).toBeNull()
})

it('reads what is broken or somebody else’s as nothing', () => {
  const one = slot('session', 'a', isNumber)
  sessionStorage.setItem('a', '{')
  expect(one.read()).toBeNull()
  sessionStorage.setItem('a', '"text"')
  expect(one.read()).toBeNull()
})

it('keeps a value for the life of the page where storage is forbidden', () => {
  const refuse = () => {
    throw new DOMException('no', 'SecurityError')
  }
  const forbidden = { getItem: refuse, setItem: refuse, removeItem: refuse } as unknown as Storage
  const storage = vi.spyOn(window, 'localStorage', 'get').mockReturnValue(forbidden)
  const one = slot('local', 'a', isNumber)
  expect(one.read()).toBeNull()
  one.write(1)
  expect(one.read()).toBe(1)
  one.clear()
  expect(one.read()).toBeNull()
  storage.mockRestore()
})

it('clears what belongs to one customer and nothing else', () => {
  localStorage.setItem(`${PRIVATE_PREFIX}x`, '1')
  sessionStorage.setItem(`${PRIVATE_PREFIX}y`, '1')
  localStorage.setItem('other', '1')
  clearPrivate()
  expect(localStorage.getItem(`${PRIVATE_PREFIX}x`)).toBeNull()
  expect(sessionStorage.getItem(`${PRIVATE_PREFIX}y`)).toBeNull()
  expect(localStorage.getItem('other')).toBe('1')
})
