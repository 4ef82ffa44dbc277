import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { toast, useToasts } from './toast'

beforeEach(() => {
  vi.useFakeTimers()
  useToasts.getState().take()
  window.history.replaceState(null, '', '/login')
})
afterEach(() => vi.useRealTimers())

const titles = () => useToasts.getState().queue.map(({ title }) => title)

function go(path: string): void {
  window.history.replaceState(null, '', path)
  toast.screen(path)
}

it('a failure goes with its screen', () => {
  toast.failure('password is incorrect')
  vi.advanceTimersByTime(1_000)
  go('/')
  expect(titles()).toEqual([])
})

it('what comes with a change of screen stays on that one, and goes with the next', () => {
  toast.success('Get Layanan Success')
  go('/pilihLayanan')
  vi.advanceTimersByTime(1_000)
  expect(titles()).toEqual(['Get Layanan Success'])
  go('/pilihEpay')
  expect(titles()).toEqual([])
})

it('news belong to no screen', () => {
  toast.info('Cucian selesai')
  vi.advanceTimersByTime(1_000)
  go('/')
  expect(titles()).toEqual(['Cucian selesai'])
})
