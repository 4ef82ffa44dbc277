import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { cleanup, render, screen } from '@testing-library/react'
import { afterEach, expect, it } from 'vitest'
import type { DataMesin } from '@/shared/api/model'
import { serverNow } from '@/shared/realtime/clock'
import { MachineCard } from './machine-card'

afterEach(cleanup)

const machine: DataMesin = {
  id: 7,
  nama: 'Mesin 07',
  idowner: 1,
  status: 'busy',
  tl: null,
  ends_at: null,
  outlet: { idoutlet: 3, nama: 'M', kota: 'B' },
}

const card = (free: boolean, ends_at: number | null) => (
  <QueryClientProvider client={new QueryClient()}>
    <MachineCard machine={machine} free={free} ends_at={ends_at} />
  </QueryClientProvider>
)

it('the seconds are shown, and a screen reader is told only that the machine is taken, then free', () => {
  const { rerender } = render(card(false, serverNow() + 600_000))
  const status = screen.getByRole('status')
  expect(status.textContent).toBe('Sedang digunakan')
  expect(status.contains(screen.getByRole('timer'))).toBe(false)
  expect(status.parentElement?.textContent).toMatch(/^Sedang digunakan, selesai (10:00|09:59) lagi$/)
  rerender(card(true, null))
  expect(screen.getByRole('status')).toBe(status)
  expect(status.textContent).toBe('Mesin sudah bebas')
  expect(screen.queryByRole('timer')).toBeNull()
})

it('a machine that was free from the beginning tells nothing', () => {
  render(card(true, null))
  expect(screen.getByRole('status').textContent).toBe('')
})
