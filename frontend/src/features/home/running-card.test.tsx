import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react'
import type { ReactNode } from 'react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { dashboardQuery } from '@/shared/api/dashboard'
import type { Dashboard, SnapTransaksi } from '@/shared/api/model'
import { usePush } from '@/shared/push/push'
import { forgetTicks, putTick, useTicks } from '@/shared/realtime/ticks'
import { DoneCard, RunningCard } from './running-card'

vi.mock('@/shared/realtime/socket', () => ({ watchMachine: () => () => undefined }))

const NOW = Date.parse('2026-11-20T10:00:00Z')
const LATE_MS = 3_000

const detail = {
  idmesin: 3,
  status: 3,
  durasi: 2_100,
  snap_layanan: { nama: 'Cuci Reguler', durasi: 2_100 },
  snap_mesin: { nama: 'Cuci 03' },
}
const purchase: SnapTransaksi = {
  id: 'SLF261120093000123',
  created_at: '2026-11-20T09:30:00Z',
  finished_at: null,
  ends_at: NOW,
  server_time: NOW,
  grandtotal: 15_000,
  isDelete: false,
  outlet: { nama: 'Laundry Melati', kota: 'Bandung' },
  snap_transaksi_detail: [detail],
}
const about = { purchase, detail, alone: true }

let client: QueryClient
const show = (card: ReactNode) => render(<QueryClientProvider client={client}>{card}</QueryClientProvider>)
const pass = (ms = 0) => act(() => vi.advanceTimersByTimeAsync(ms))

beforeEach(() => {
  vi.useFakeTimers({ now: NOW })
  client = new QueryClient()
  usePush.setState({ state: 'off' })
})

afterEach(() => {
  cleanup()
  client.clear()
  forgetTicks()
  usePush.setState({ state: 'unknown' })
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

/** A cycle whose time is over, without a report that it ended. */
async function late(connection: 'up' | 'down') {
  useTicks.setState({ connection })
  putTick('3', { ends_at: NOW, over: false })
  show(<RunningCard {...about} onDone={vi.fn()} />)
  await pass(LATE_MS)
}

it('where the line is down at its end, a run is perhaps over, and is no timer any more', async () => {
  await late('down')
  expect(screen.getByText('Mungkin sudah selesai')).toBeTruthy()
  expect(screen.queryByRole('timer')).toBeNull()
  expect(screen.getByRole('button', { name: 'Beri tahu saya saat selesai' })).toBeTruthy()
})

it('the line comes back, and its word counts', async () => {
  await late('down')
  act(() => {
    useTicks.setState({ connection: 'up' })
    putTick('3', { ends_at: NOW + 60_000, over: false })
  })
  expect(screen.queryByText('Mungkin sudah selesai')).toBeNull()
  expect(screen.getByRole('timer')).toBeTruthy()
})

it('on a line that stands its last word is waited for', async () => {
  await late('up')
  expect(screen.queryByText('Mungkin sudah selesai')).toBeNull()
  expect(screen.getByRole('timer').textContent).toContain('00:00')
})

it('laundry is fetched from a run that has just ended, where it is said to be in it still', async () => {
  const asked: unknown[] = []
  vi.stubGlobal('fetch', async (request: Request) => {
    asked.push([new URL(request.url).pathname, await request.json()])
    return Response.json({ status: 200, message: 'OK', data: null })
  })
  const left = { id: purchase.id, finished_at: '2026-11-20T10:00:00Z', layanan: '', mesin: '', outlet: '' }
  client.setQueryData(dashboardQuery().queryKey, { menunggu: [left] } as unknown as Dashboard)
  show(<DoneCard {...about} kept />)
  fireEvent.click(screen.getByRole('button', { name: 'Sudah saya ambil' }))
  await pass()
  expect(asked).toEqual([['/scan/v1/transaksi/ambil', { id: purchase.id }]])
  expect(client.getQueryData(dashboardQuery().queryKey)?.menunggu).toEqual([])
})

it('nothing is to be fetched from one that has nothing in it', () => {
  show(<DoneCard {...about} kept={false} />)
  expect(screen.queryByRole('button', { name: 'Sudah saya ambil' })).toBeNull()
})
