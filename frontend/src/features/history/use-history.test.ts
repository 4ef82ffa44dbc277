import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { renderHook } from '@testing-library/react'
import { createElement, type ReactNode } from 'react'
import { describe, expect, it, vi } from 'vitest'
import type { History } from '@/shared/api/model'
import { historyQuery, nextPage } from './calls'
import { useHistory } from './use-history'

const listHistory = vi.hoisted(() => vi.fn<() => Promise<History>>())
vi.mock('@/shared/api/client', () => ({ call: listHistory }))

const page = (returned: number, until: string): History => ({ history_data: null, returned, sampai: until })

describe('nextPage', () => {
  it('goes on by the page size after a full page, as of the first one', () => {
    expect(nextPage([page(20, 'a')])).toEqual({ skip: 20, until: 'a' })
    expect(nextPage([page(20, 'a'), page(20, 'b')])).toEqual({ skip: 40, until: 'a' })
  })

  it('ends with a page that is not full', () => {
    expect(nextPage([page(0, 'a')])).toBeUndefined()
    expect(nextPage([page(20, 'a'), page(19, 'a')])).toBeUndefined()
    expect(nextPage([])).toBeUndefined()
  })
})

it('what another screen knows to be no longer true is asked for anew, however fresh it is', async () => {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: 5_000 } } })
  client.setQueryData(historyQuery('').queryKey, {
    pages: [page(1, 'a')],
    pageParams: [{ skip: 0, until: null }],
  })
  listHistory.mockResolvedValue(page(2, 'b'))
  const wrapper = ({ children }: { children: ReactNode }) =>
    createElement(QueryClientProvider, { client }, children)
  const open = (key: string) => renderHook(() => useHistory('', { key, place: null }), { wrapper })

  open('first').unmount()
  expect(listHistory).not.toHaveBeenCalled()
  void client.invalidateQueries({ queryKey: historyQuery('').queryKey })
  const { result } = open('second')
  await vi.waitFor(() => expect(result.current.data?.pages).toEqual([page(2, 'b')]))
})
