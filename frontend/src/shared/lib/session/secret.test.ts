import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { useAuth } from './auth-store'
import { followSecrets, forgetSecrets, secretSlot } from './secret'

const PASSWORD = 'Rahasia123'
const MINUTE = 60_000
const isText = (value: unknown): value is string => typeof value === 'string'
const typed = secretSlot('typed', isText)

const stored = () => JSON.stringify([{ ...localStorage }, { ...sessionStorage }])

beforeEach(() => {
  vi.useFakeTimers({ now: 1_763_600_000_000 })
  typed.write(PASSWORD)
  expect(stored()).toContain(PASSWORD)
})

afterEach(() => {
  vi.useRealTimers()
  localStorage.clear()
  sessionStorage.clear()
})

describe('a typed password leaves the storage', () => {
  it('after ten minutes, though nobody asks for it', () => {
    vi.advanceTimersByTime(10 * MINUTE - 1)
    expect(typed.read()).toBe(PASSWORD)
    vi.advanceTimersByTime(1)
    expect(stored()).not.toContain(PASSWORD)
  })

  it('each in its own time', () => {
    const other = secretSlot('other', isText, 3 * MINUTE)
    vi.advanceTimersByTime(5 * MINUTE)
    other.write('Lainnya123')
    vi.advanceTimersByTime(3 * MINUTE)
    expect(stored()).not.toContain('Lainnya123')
    expect(stored()).toContain(PASSWORD)
    vi.advanceTimersByTime(2 * MINUTE)
    expect(stored()).not.toContain(PASSWORD)
  })

  it('when the page is looked at again after the phone slept', () => {
    followSecrets()
    vi.clearAllTimers()
    vi.setSystemTime(Date.now() + 11 * MINUTE)
    window.dispatchEvent(new Event('pageshow'))
    expect(stored()).not.toContain(PASSWORD)
  })

  it('when the clock was set back', () => {
    forgetSecrets(Date.now() - 1)
    expect(stored()).not.toContain(PASSWORD)
  })

  it('with the session, and when one begins', () => {
    useAuth.setState({ token: 'a' })
    expect(useAuth.getState().signOut()).toBe(true)
    expect(stored()).not.toContain(PASSWORD)
    typed.write(PASSWORD)
    useAuth.getState().signIn('b')
    expect(stored()).not.toContain(PASSWORD)
  })
})

it('a new token of the same session leaves what is kept', () => {
  useAuth.setState({ token: 'a' })
  useAuth.getState().signIn('b')
  expect(typed.read()).toBe(PASSWORD)
})
