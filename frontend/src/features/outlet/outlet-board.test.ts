import { expect, it } from 'vitest'
import type { FreeMachine } from './calls'
import { step } from './outlet-board'

const outlet = { idoutlet: 7, nama: 'Laundry Melati', kota: 'Bandung', alamat: '', tutup: null }
const machine = (id: number, status: FreeMachine['status'] = 'idle'): FreeMachine => ({
  id,
  nama: `Cuci 0${id}`,
  jenis: 'cuci',
  status,
  ends_at: null,
  dipanggil_sampai: null,
})
const known = { outlet, server_time: 1, mesin: [machine(1), machine(2)] }

it('a snapshot replaces everything; a refused one nothing', () => {
  const snapshot = { status: 200, versi: 4, ...known }
  expect(step(undefined, null, snapshot)).toEqual({ is: 'known', versi: 4, data: known })
  expect(step(known, 3, { status: 404, versi: 0, server_time: 1 })).toBeNull()
  for (const bad of [null, 'halo', {}, { versi: 1 }]) expect(step(known, 3, bad)).toBeNull()
})

it('a change touches its machines, and retired ones go', () => {
  const change = { versi: 5, server_time: 2, mesin: [machine(2, 'busy')] }
  expect(step(known, 4, change)).toEqual({
    is: 'known',
    versi: 5,
    data: { outlet, server_time: 2, mesin: [machine(1), machine(2, 'busy')] },
  })
  expect(step(known, 4, { versi: 5, server_time: 2, hilang: [1] })).toMatchObject({
    data: { mesin: [machine(2)] },
  })
  const tutup = { alasan: 'Listrik mati', sampai: null }
  expect(step(known, 4, { versi: 5, server_time: 2, outlet: { ...outlet, tutup } })).toMatchObject({
    data: { outlet: { tutup } },
  })
})

it('a bare message says that nothing changed', () => {
  expect(step(known, 4, { versi: 4, server_time: 9 })).toEqual({
    is: 'known',
    versi: 4,
    data: { ...known, server_time: 9 },
  })
})

it.each([
  ['a number is missing', { versi: 6, server_time: 2, mesin: [machine(1)] }],
  ['a bare message has another number', { versi: 5, server_time: 2 }],
  ['a machine is new', { versi: 5, server_time: 2, mesin: [machine(3)] }],
])('needs a snapshot when %s', (_, message) => expect(step(known, 4, message)).toEqual({ is: 'gap' }))

it('needs a snapshot before the first one', () =>
  expect(step(known, null, { versi: 5, server_time: 2, mesin: [machine(1)] })).toEqual({ is: 'gap' }))
