import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { cleanup, render, screen } from '@testing-library/react'
import { afterEach, expect, it, vi } from 'vitest'
import { dashboardQuery } from '@/shared/api/dashboard'
import type { DataMesin } from '@/shared/api/model'
import { MachineCard } from './machine-card'

afterEach(cleanup)

const machine = { id: 3, nama: 'Cuci 03', outlet: { nama: 'Melati', kota: 'Bandung' } } as DataMesin

/** The card of a machine that is not free, together with a purchase of this customer. */
function card(idmesin: number, status: number): string {
  vi.stubGlobal('fetch', () => new Promise(() => undefined))
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } })
  client.setQueryData(dashboardQuery().queryKey, {
    customer_global: { id: 1, nama_awal: 'Siti', nama_akhir: 'R', telp: '81234567890' },
    menunggu: [],
    list_snap_transaksi: [
      {
        id: 'SLF261122150900000',
        created_at: '2026-11-22T15:09:00+07:00',
        snap_transaksi_detail: [{ idmesin, status }],
      },
    ],
    // biome-ignore lint/suspicious/noExplicitAny: only what the card reads of it
  } as any)
  render(
    <QueryClientProvider client={client}>
      <MachineCard machine={machine} now={{ kind: 'taken', ends_at: null }} />
    </QueryClientProvider>,
  )
  return screen.getByRole('status').textContent ?? ''
}

it('a machine that holds the customer’s own money says that it is theirs, until when, and whom to ask', () => {
  const text = card(3, 2)
  expect(text).toContain('pembayaran Anda')
  expect(text).toContain('paling lambat 15.24')
  expect(text).toContain('kasir')
  expect(text).not.toContain('pelanggan lain')
})

it('one that runs for them says so, too', () => {
  expect(card(3, 3)).toBe('Sedang Anda pakai')
})

it('one that is somebody else’s is not theirs', () => {
  expect(card(4, 2)).toContain('pelanggan lain')
})
