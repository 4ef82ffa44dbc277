import { act, cleanup, render, screen } from '@testing-library/react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { toast } from '@/shared/lib/toast'
import Toaster from './toaster'

/** Longer than the library takes to let a message leave, shorter than one is to be read. */
const EXIT_MS = 1_000
const STEP_MS = 20

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => undefined }))
  render(<Toaster />)
})

afterEach(async () => {
  await act(() => vi.advanceTimersByTimeAsync(10_000))
  cleanup()
  vi.useRealTimers()
})

/** In small steps, because React draws what happened only after each. */
async function pass(ms: number): Promise<void> {
  for (let left = ms; left >= 0; left -= STEP_MS) {
    await act(() => vi.advanceTimersByTimeAsync(Math.min(left, STEP_MS)))
  }
}

/** A failed try of the customer, answered after `answer_ms`. */
async function fail(title: string, answer_ms: number, body?: string): Promise<void> {
  act(() => toast.newTry())
  await pass(answer_ms)
  act(() => toast.failure(title, body))
}

it.each([0, 50, 150, 250, 400])('the same failure again after %i ms is told again', async (ms) => {
  await fail('password is incorrect', 0, 'Periksa lagi')
  await pass(EXIT_MS)
  for (let again = 0; again < 2; again++) {
    await fail('password is incorrect', ms, 'Periksa lagi')
    await pass(EXIT_MS)
    expect(screen.getAllByText('password is incorrect')).toHaveLength(1)
    expect(screen.getAllByText('Periksa lagi')).toHaveLength(1)
    expect(screen.getByText('password is incorrect').closest('li')?.dataset.removed).toBe('false')
  }
})

it('each message is in the page once, the old one not even while it leaves', async () => {
  await fail('Field masih kosong', 0)
  await pass(EXIT_MS)
  await fail('Field masih kosong', 50)
  for (let ms = 0; ms < 600; ms += 20) {
    await pass(20)
    expect(screen.queryAllByText('Field masih kosong').length).toBeLessThanOrEqual(1)
  }
  expect(screen.getByText('Field masih kosong')).toBeTruthy()
})

it('a new try takes the failure of the one before away, and nothing else', async () => {
  act(() => toast.success('Get Layanan Success'))
  await fail('Mesin Not found', 0)
  await pass(EXIT_MS)
  act(() => toast.success('Get Layanan Success'))
  act(() => toast.newTry())
  await pass(EXIT_MS)
  expect(screen.queryByText('Mesin Not found')).toBeNull()
  expect(screen.getByText('Get Layanan Success')).toBeTruthy()
})

it('two failures are both readable', async () => {
  await fail('Tidak dapat terhubung', 0)
  act(() => toast.failure('Sistem sedang bermasalah'))
  await pass(EXIT_MS)
  for (const title of ['Tidak dapat terhubung', 'Sistem sedang bermasalah']) {
    const item = screen.getByText(title).closest('li')
    expect(item?.dataset).toMatchObject({ removed: 'false', visible: 'true', expanded: 'true' })
  }
})

it('a failure that the customer never saw is not told after the next try began', async () => {
  act(() => {
    toast.failure('Mesin Not found')
    toast.newTry()
  })
  await pass(EXIT_MS)
  expect(screen.queryByText('Mesin Not found')).toBeNull()
})
