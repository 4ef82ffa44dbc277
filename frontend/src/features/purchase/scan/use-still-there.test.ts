import { renderHook } from '@testing-library/react'
import { afterEach, expect, it, vi } from 'vitest'
import { useStillThere } from './use-still-there'

afterEach(() => vi.useRealTimers())

it('the sticker that led away stays untaken while it is in view, and counts when it is pointed at again', () => {
  vi.useFakeTimers()
  const { result } = renderHook(() => useStillThere(() => 'NYM1.a'))
  for (let look = 0; look < 200; look++) {
    expect(result.current('NYM1.a')).toBe(true)
    vi.advanceTimersByTime(120)
  }
  expect(result.current('NYM1.b')).toBe(false)
  vi.advanceTimersByTime(1_500)
  expect(result.current('NYM1.a')).toBe(false)
})
