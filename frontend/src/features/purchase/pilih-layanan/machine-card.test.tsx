import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { cleanup, render, screen } from '@testing-library/react'
import { afterEach, expect, it } from 'vitest'
import type { DataMesin } from '@/shared/api/model'
import { serverNow } from '@/shared/realtime/clock'
import { MachineCard } from './machine-card'
import type { MachineNow } from './use-machine'

afterEach(cleanup)

const machine: DataMesin = {
  id: 7,
  nama: 'Mesin 07',
  idowner: 1,
  status: 'busy',
  tl: null,
  ends_at: null,
  outlet: { idoutlet: 3, nama: 'M', kota: 'B', tutup: null },
}

const card = (now: MachineNow) => (
  <QueryClientProvider client={new QueryClient()}>
    <MachineCard machine={machine} now={now} />
  </QueryClientProvider>
)

it('the seconds are shown, and a screen reader is told only that the machine is taken, then free', () => {
  const { rerender } = render(card({ kind: 'taken', ends_at: serverNow() + 600_000 }))
  const status = screen.getByRole('status')
  expect(status.textContent).toBe('Sedang digunakan')
  expect(status.contains(screen.getByRole('timer'))).toBe(false)
  expect(status.parentElement?.textContent).toMatch(/^Sedang digunakan, sisa (10:00|09:59)$/)
  rerender(card({ kind: 'free' }))
  expect(screen.getByRole('status')).toBe(status)
  expect(status.textContent).toBe('Mesin sudah bebas')
  expect(screen.queryByRole('timer')).toBeNull()
})

it('a machine that was free from the beginning tells nothing', () => {
  render(card({ kind: 'free' }))
  expect(screen.getByRole('status').textContent).toBe('')
})

it.each([
  [{ kind: 'taken', ends_at: null }, 'Sedang digunakanMesin ini sedang disiapkan untuk pelanggan lain.'],
  [{ kind: 'offline' }, 'Mesin sedang offlinePindai mesin lain, atau hubungi kasir.'],
  [{ kind: 'closed', reason: 'Mati listrik', until: null }, 'Outlet sedang tutupMati listrik.'],
  [
    { kind: 'closed', reason: 'Libur Lebaran!', until: '2020-05-25T01:00:00.000Z' },
    'Outlet sedang tutupLibur Lebaran! Buka lagi 25/05/2020 08:00.',
  ],
] as const)('says what to do where nobody knows when it is free: %o', (now, text) => {
  render(card(now))
  expect(screen.getByRole('status').textContent).toBe(text)
  expect(screen.queryByRole('timer')).toBeNull()
})
