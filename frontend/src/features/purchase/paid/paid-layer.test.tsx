import { act, cleanup, fireEvent, render, screen } from '@testing-library/react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { useTicks } from '@/shared/realtime/ticks'
import type { Paid } from './paid'
import PaidLayer from './paid-layer'

const NOW = Date.parse('2026-11-20T10:00:00Z')
const MINUTE = 60_000

const paid: Paid = {
  idmesin: 7,
  machine: 'Mesin 07',
  service: 'Cuci Reguler',
  ends_at: NOW + 35 * MINUTE,
  balanceLeft: 70_000,
  from: null,
}

let onClose: ReturnType<typeof vi.fn<() => void>>

/** Opens the layer with reduced motion: the flight needs a real browser. */
async function open() {
  onClose = vi.fn<() => void>()
  render(<PaidLayer paid={paid} onClose={onClose} />)
  await act(() => vi.advanceTimersByTimeAsync(0))
}

beforeEach(() => {
  vi.useFakeTimers({ now: NOW })
  vi.stubGlobal('matchMedia', () => ({ matches: true }))
})

afterEach(() => {
  cleanup()
  vi.useRealTimers()
  useTicks.setState({ ticks: {} })
})

it('says what runs until when, and what is left', async () => {
  await open()
  expect(screen.getByRole('status').textContent).toBe('Mesin Berhasil dinyalakanCuci Reguler di Mesin 07')
  expect(screen.getByText(/^selesai \d\d\.\d\d$/)).toBeTruthy()
  expect(screen.getByText(/^Rp.70\.000$/)).toBeTruthy()
})

it('when it ends is the machine’s word as soon as that has come', async () => {
  await open()
  const before = screen.getByText(/^selesai/).textContent
  act(() => useTicks.setState({ ticks: { 7: { ends_at: NOW + 50 * MINUTE, over: false } } }))
  expect(screen.getByText(/^selesai/).textContent).not.toBe(before)
})

it('goes by itself after 2.4 s, and no sooner', async () => {
  await open()
  await act(() => vi.advanceTimersByTimeAsync(2_399))
  expect(onClose).not.toHaveBeenCalled()
  await act(() => vi.advanceTimersByTimeAsync(1))
  expect(onClose).toHaveBeenCalledOnce()
})

it.each([
  ['a touch', () => fireEvent.click(document.body)],
  ['its button', () => fireEvent.click(screen.getByRole('button'))],
  ['Escape', () => fireEvent.keyDown(window, { key: 'Escape' })],
])('goes at %s, once', async (_, what) => {
  await open()
  await act(async () => void what())
  expect(onClose).toHaveBeenCalledOnce()
  await act(() => vi.advanceTimersByTimeAsync(5_000))
  expect(onClose).toHaveBeenCalledOnce()
})

it('stays at any other key', async () => {
  await open()
  await act(async () => void fireEvent.keyDown(window, { key: 'a' }))
  expect(onClose).not.toHaveBeenCalled()
})
