import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { act, cleanup, renderHook } from '@testing-library/react'
import type { ReactNode } from 'react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { DataMesin } from '@/shared/api/model'
import { forgetTicks, putTick } from '@/shared/realtime/ticks'
import { useMachine } from './use-machine'
import { pollAfter } from './use-services'

vi.mock('@/shared/realtime/socket', () => ({ watchMachine: () => () => undefined }))

const NOW = 1_800_000_000_000
const client = new QueryClient()
const wrapper = ({ children }: { children: ReactNode }) => (
  <QueryClientProvider client={client}>{children}</QueryClientProvider>
)

const machine = (status: DataMesin['status'], tl: number | null = null): DataMesin => ({
  id: 7,
  nama: 'Mesin 07',
  idowner: 1,
  status,
  tl,
  ends_at: tl === null ? null : NOW + tl,
  outlet: { idoutlet: 3, nama: 'M', kota: 'B', tutup: null },
})

const show = (answer: DataMesin, asked_ms = NOW) =>
  renderHook(({ one, at }) => useMachine(one, at), { wrapper, initialProps: { one: answer, at: asked_ms } })

let asked = vi.spyOn(client, 'invalidateQueries')
beforeEach(() => {
  vi.useFakeTimers({ now: NOW + 500 })
  asked = vi.spyOn(client, 'invalidateQueries').mockResolvedValue()
})
afterEach(() => {
  cleanup()
  forgetTicks()
  vi.useRealTimers()
})

it('is what the server last said', () => {
  expect(show(machine('idle')).result.current).toEqual({ kind: 'free' })
  expect(show(machine('busy', 60_000)).result.current).toEqual({ kind: 'taken', ends_at: NOW + 60_000 })
  expect(show(machine('offline')).result.current).toEqual({ kind: 'offline' })
})

it('a time left counts from when it was told, not from when it is shown again', () => {
  const { result } = show(machine('busy', 60_000), NOW - 20_000)
  expect(result.current).toEqual({ kind: 'taken', ends_at: NOW + 40_000 })
})

it('is taken as soon as its heartbeat says so, and the server is asked', () => {
  const { result } = show(machine('idle'))
  act(() => putTick('7', { ends_at: NOW + 90_000, over: false }))
  expect(result.current).toEqual({ kind: 'taken', ends_at: NOW + 90_000 })
  expect(asked).toHaveBeenCalledTimes(1)
})

it('is bought again only when the server says that it is free', () => {
  const { result, rerender } = show(machine('busy', 60_000))
  act(() => putTick('7', { ends_at: NOW + 60_000, over: false }))
  expect(asked).toHaveBeenCalledTimes(0)
  act(() => putTick('7', { ends_at: NOW + 60_000, over: true }))
  expect(result.current).toEqual({ kind: 'taken', ends_at: null })
  expect(asked).toHaveBeenCalledTimes(1)
  rerender({ one: machine('idle'), at: NOW + 600 })
  expect(result.current).toEqual({ kind: 'free' })
})

it('what is kept of an earlier run holds nobody up', () => {
  putTick('7', { ends_at: NOW + 90_000, over: false })
  expect(show(machine('idle')).result.current).toEqual({ kind: 'free' })
})

it('the next customer’s run is shown with its own time', () => {
  const { result, rerender } = show(machine('busy', 1_000))
  act(() => putTick('7', { ends_at: NOW + 1_000, over: true }))
  rerender({ one: machine('busy', 1_800_000), at: NOW + 600 })
  expect(result.current).toEqual({ kind: 'taken', ends_at: NOW + 600 + 1_800_000 })
})

it('is asked about soon where no tick tells the end, and never in a hurry', () => {
  expect(pollAfter(machine('offline', null))).toBe(4_000)
  expect(pollAfter(machine('busy', null))).toBe(4_000)
  expect(pollAfter(machine('busy', 300))).toBe(4_000)
  expect(pollAfter(machine('busy', 9_000))).toBe(9_000)
  expect(pollAfter(machine('busy', 900_000))).toBe(15_000)
  expect(pollAfter(machine('idle', null))).toBe(20_000)
})

it('a closed outlet says why and until when, and is asked about as seldom as a free machine', () => {
  const closed = (sampai: string | null): DataMesin => ({
    ...machine('offline'),
    outlet: { idoutlet: 3, nama: 'M', kota: 'B', tutup: { alasan: 'Mati listrik', sampai } },
  })
  expect(show(closed(null)).result.current).toEqual({ kind: 'closed', reason: 'Mati listrik', until: null })
  const until = '2026-11-20T12:00:00.000Z'
  expect(show(closed(until)).result.current).toMatchObject({ kind: 'closed', until })
  expect(pollAfter(closed(null))).toBe(pollAfter(machine('idle')))
})
