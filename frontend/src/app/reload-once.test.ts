import { afterEach, expect, it, vi } from 'vitest'
import { noteReload, reloadOnce } from './reload-once'

const NOW = Date.parse('2026-11-20T10:00:00Z')

afterEach(() => {
  vi.restoreAllMocks()
  sessionStorage.clear()
})

/** A screen that could not be fetched. `answers`: whether the server answers each probe; the last value repeats. */
function screen(answers: boolean[], { leaveAfter = Number.POSITIVE_INFINITY } = {}) {
  let asked = 0
  const left = new AbortController()
  const reload = vi.fn()
  const onDelay = vi.fn()
  const wait = vi.fn(async () => undefined)
  const done = reloadOnce({
    pathname: '/pembayaran',
    left: left.signal,
    onDelay,
    there: async () => {
      const answer = answers[Math.min(asked++, answers.length - 1)] ?? false
      if (asked >= leaveAfter) left.abort()
      return answer
    },
    reload,
    wait,
  })
  return { done, reload, onDelay, wait }
}

it('a page reloads by itself once a minute', () => {
  expect(noteReload('/pembayaran', NOW)).toBe(true)
  expect(noteReload('/pembayaran', NOW + 59_000)).toBe(false)
  expect(noteReload('/riwayat', NOW + 59_000)).toBe(true)
  expect(noteReload('/pembayaran', NOW + 61_000)).toBe(true)
})

it('and never where the browser would not remember that it did', () => {
  const refuse = () => {
    throw new DOMException('no', 'SecurityError')
  }
  const forbidden = { getItem: refuse, setItem: refuse, removeItem: refuse } as unknown as Storage
  vi.spyOn(window, 'sessionStorage', 'get').mockReturnValue(forbidden)
  expect(noteReload('/pilihEpay', NOW)).toBe(false)
})

it('reloads at once when the server answers, and tells nothing', async () => {
  const { done, reload, onDelay } = screen([true])
  await done
  expect(reload).toHaveBeenCalledOnce()
  expect(onDelay).not.toHaveBeenCalled()
})

it('tells the customer when that did not help', async () => {
  await screen([true]).done
  const { done, reload, onDelay, wait } = screen([true])
  await done
  expect(reload).not.toHaveBeenCalled()
  expect(onDelay).toHaveBeenCalled()
  expect(wait).not.toHaveBeenCalled()
})

it('waits for the network, and not for ever', async () => {
  const back = screen([false, false, true])
  await back.done
  expect(back.onDelay).toHaveBeenCalled()
  expect(back.reload).toHaveBeenCalledOnce()
  sessionStorage.clear()
  const never = screen([false])
  await never.done
  expect(never.reload).not.toHaveBeenCalled()
  expect(never.wait.mock.calls.length).toBeLessThan(20)
})

it('a customer who has gone elsewhere keeps the page', async () => {
  const { done, reload } = screen([true], { leaveAfter: 1 })
  await done
  expect(reload).not.toHaveBeenCalled()
})
