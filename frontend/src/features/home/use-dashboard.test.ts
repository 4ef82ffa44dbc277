import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { act, cleanup, renderHook } from '@testing-library/react'
import { createElement, type ReactNode } from 'react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { dashboardQuery } from '@/shared/api/dashboard'
import type { Dashboard } from '@/shared/api/model'
import { useDashboard } from './use-dashboard'

const asked = vi.hoisted(() => ({ dashboard: vi.fn(), epay: vi.fn() }))
vi.mock('@/shared/api/dashboard', () => ({
  dashboardQuery: () => ({ queryKey: ['dashboard'], queryFn: asked.dashboard }),
  epayQuery: () => ({ queryKey: ['epay'], queryFn: asked.epay }),
}))

const WAITING = 2
const RUNNING = 3

/** A dashboard with these purchases, by number and state. */
const dashboard = (...list: [id: string, status: number][]) =>
  ({
    list_snap_transaksi: list.map(([id, status]) => ({ id, snap_transaksi_detail: [{ status }] })),
  }) as Dashboard

/** Lets the pending answers arrive. */
const settle = () => act(() => vi.advanceTimersByTimeAsync(0))

async function open(first: Dashboard) {
  asked.dashboard.mockResolvedValue(first)
  asked.epay.mockResolvedValue([])
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  const wrapper = ({ children }: { children: ReactNode }) =>
    createElement(QueryClientProvider, { client }, children)
  const { result } = renderHook(useDashboard, { wrapper })
  await settle()
  expect(result.current.dashboard.kind).toBe('shown')
  expect(asked.epay).toHaveBeenCalledTimes(1)
  return async (next: Dashboard) => {
    act(() => client.setQueryData(dashboardQuery().queryKey, next))
    await settle()
  }
}

beforeEach(() => {
  vi.useFakeTimers()
  vi.clearAllMocks()
  localStorage.clear()
})

afterEach(() => {
  cleanup()
  vi.useRealTimers()
})

it('a purchase that waits no more has changed the balances: its money is spent, or back', async () => {
  const update = await open(dashboard(['a', WAITING], ['b', WAITING]))
  await update(dashboard(['a', WAITING], ['b', RUNNING]))
  expect(asked.epay).toHaveBeenCalledTimes(2)
  await update(dashboard(['b', RUNNING]))
  expect(asked.epay).toHaveBeenCalledTimes(3)
})

it('a run that ends changes no balance', async () => {
  const update = await open(dashboard(['a', RUNNING]))
  await update(dashboard())
  expect(asked.epay).toHaveBeenCalledTimes(1)
})
