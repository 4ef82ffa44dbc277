import { afterEach, expect, it, vi } from 'vitest'
import type { LastUse, Layanan } from '@/shared/api/model'
import { readAgain, sameService } from './again'

const again: LastUse = {
  idlayanan: 5,
  nama: 'Cuci Reguler',
  durasi: 2_100,
  harga: 15_000,
  idoutlet: 3,
  idcustomer: 9,
}
const service = (id: number, harga = 15_000) => ({
  id,
  nama: 'Cuci Reguler',
  durasi: 2_100,
  harga,
  harga_sampai: null,
  idoutlet: 3,
})

/** The answer for a scanned machine. */
const found = (ids: number[], idoutlet = 3): Layanan => ({
  data_mesin: {
    id: 7,
    nama: 'Cuci 03',
    idowner: 1,
    status: 'idle',
    tl: null,
    ends_at: null,
    outlet: { idoutlet, nama: 'Laundry Melati', kota: 'Bandung', tutup: null },
  },
  data_layanan: ids.map((id) => service(id)),
})

/** Mocks the server's answer to a search, and records the request. */
function serve(answer: Layanan) {
  const asked: unknown[] = []
  vi.stubGlobal('fetch', async (request: Request) => {
    asked.push(await request.json())
    return Response.json({ status: 200, message: 'OK', data: answer })
  })
  return asked
}

afterEach(() => vi.unstubAllGlobals())

it('takes the service of the first page without asking', async () => {
  const asked = serve(found([]))
  expect(await sameService('q', found([4, 5]), again)).toMatchObject({ id: 5 })
  expect(asked).toEqual([])
})

it('finds one beyond the first page by its name, and not another one of that name', async () => {
  const asked = serve(found([6, 5]))
  expect(await sameService('q', found([4]), again)).toMatchObject({ id: 5 })
  expect(asked).toMatchObject([{ qr: 'q', search: 'Cuci Reguler' }])
})

it('says when the outlet does not have it any more', async () => {
  serve(found([6]))
  expect(await sameService('q', found([4]), again)).toBeNull()
})

it('looks for nothing at another outlet', async () => {
  const asked = serve(found([5]))
  expect(await sameService('q', found([5], 8), again)).toBeUndefined()
  expect(asked).toEqual([])
})

it('reads what the dashboard gave along, and nothing else', () => {
  expect(readAgain({ again })).toEqual(again)
  for (const state of [null, undefined, {}, { again: null }, { again: { idlayanan: '5' } }, 'again'])
    expect(readAgain(state)).toBeNull()
})
