import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { act, renderHook, waitFor } from '@testing-library/react'
import { createElement, type ReactNode } from 'react'
import { beforeEach, expect, it, vi } from 'vitest'
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

/** Of so many purchases, by number and state. */
const dashboard = (...list: [id: string, status: number][]) =>
  ({
    list_snap_transaksi: list.map(([id, status]) => ({ id, snap_transaksi_detail: [{ status }] })),
  }) as Dashboard

async function open(first: Dashboard) {
  asked.dashboard.mockResolvedValue(first)
  asked.epay.mockResolvedValue([])
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  const wrapper = ({ children }: { children: ReactNode }) =>
    createElement(QueryClientProvider, { client }, children)
  const { result } = renderHook(useDashboard, { wrapper })
  await waitFor(() => expect(result.current.dashboard.kind).toBe('shown'))
  await waitFor(() => expect(asked.epay).toHaveBeenCalledTimes(1))
  return (next: Dashboard) => act(() => client.setQueryData(dashboardQuery().queryKey, next))
}

beforeEach(() => {
  vi.clearAllMocks()
  localStorage.clear()
})

it('a purchase that waits no more has changed the balances: its money is spent, or back', async () => {
  const say = await open(dashboard(['a', WAITING], ['b', WAITING]))
  say(dashboard(['a', WAITING], ['b', RUNNING]))
  await waitFor(() => expect(asked.epay).toHaveBeenCalledTimes(2))
  say(dashboard(['b', RUNNING]))
  await waitFor(() => expect(asked.epay).toHaveBeenCalledTimes(3))
})

it('a run that ends changes no balance', async () => {
  const say = await open(dashboard(['a', RUNNING]))
  say(dashboard())
  await act(() => new Promise((next) => setTimeout(next)))
  expect(asked.epay).toHaveBeenCalledTimes(1)
})
