import { describe, expect, it } from 'vitest'
import type { TopUpRow, UseRow, UseStatus } from '@/till/api/types'
import { giveBackOffer, reversalOffer } from './offers'

const at = (clock: string) => `2026-11-22T${clock}:00+07:00`
const ms = (clock: string) => new Date(at(clock)).getTime()

describe('a top-up', () => {
  const SOLD: TopUpRow = {
    idpembelian_emoney: '10482',
    created_at: at('14:02'),
    nama: 'Siti R.',
    nominal: 50_000,
    quota: 50_000,
    nama_paket: '',
    cara_bayar: 'tunai',
    petugas: 'Rina',
    batal_at: null,
    batal_oleh: null,
    batal_sampai: at('14:32'),
  }
  const offer = (row: Partial<TopUpRow>, role: string, clock: string, shiftOpen = true) =>
    reversalOffer({ ...SOLD, ...row }, { role, shiftOpen, now: ms(clock) })

  it('can be taken back for half an hour, with the time that is left', () => {
    for (const role of ['kasir', 'supervisor', 'owner'] as const) {
      expect(offer({}, role, '14:22')).toEqual({ is: 'offered', left_ms: 600_000 })
    }
  })

  it('afterwards only by an owner', () => {
    for (const role of ['kasir', 'supervisor'] as const) {
      expect(offer({}, role, '14:32')).toEqual({ is: 'refused', why: 'Lewat 30 menit, minta pemilik.' })
    }
    for (const role of ['owner', 'root'] as const) {
      expect(offer({}, role, '14:32')).toEqual({ is: 'offered', left_ms: null })
    }
  })

  it('in cash only out of an open drawer, otherwise without one', () => {
    expect(offer({}, 'owner', '14:22', false).is).toBe('refused')
    for (const cara_bayar of ['qris', 'transfer', null] as const) {
      expect(offer({ cara_bayar }, 'supervisor', '14:22', false).is).toBe('offered')
    }
  })

  it('that was taken back is over', () => {
    expect(offer({ batal_at: at('14:09') }, 'owner', '14:22')).toEqual({ is: 'over' })
  })

  it('of which the end is not known is not offered', () => {
    expect(offer({ batal_sampai: '' }, 'kasir', '14:22').is).toBe('refused')
  })
})

describe('a use', () => {
  const RUN: UseRow = {
    idtransaksi: 'SLF261122140001123',
    idcustomer: 4,
    created_at: at('14:00'),
    nama: 'Siti R.',
    mesin: 'Cuci 1',
    layanan: 'Cuci 30 menit',
    grandtotal: 8_000,
    dikembalikan: 0,
    status: 'jalan',
    dihapus_at: null,
    sudah: { pelanggan: 0, mesin: 0 },
  }
  const offer = (row: Partial<UseRow>) => giveBackOffer({ ...RUN, ...row })

  it('that ran is refunded up to what is left, or deleted', () => {
    for (const status of ['jalan', 'selesai', 'dihentikan'] as const) {
      expect(offer({ status })).toEqual({ refund: 8_000, remove: true, why: null })
      expect(offer({ status, dikembalikan: 3_000 }).refund).toBe(5_000)
    }
  })

  it('that was refunded wholly can only be deleted', () => {
    expect(offer({ dikembalikan: 8_000 })).toEqual({ refund: 0, remove: true, why: null })
  })

  it('that was deleted, never ran or does not run yet is left alone', () => {
    const nothing = { refund: 0, remove: false }
    expect(offer({ dihapus_at: at('14:05'), dikembalikan: 8_000 })).toEqual({ ...nothing, why: null })
    for (const status of ['menunggu', 'belum_pasti', 'gagal'] satisfies UseStatus[]) {
      const { why, ...rest } = offer({ status })
      expect(rest).toEqual(nothing)
      expect(why).not.toBeNull()
    }
  })
})
