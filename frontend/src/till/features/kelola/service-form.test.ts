import { afterEach, expect, it } from 'vitest'
import type { Service } from '@/till/api/shop-calls'
import { changeOf, faultsOf, formOf, newOf, saveLabel, serviceDraft } from './service-form'

afterEach(() => sessionStorage.clear())

const service: Service = {
  id: 4,
  idoutlet: 3,
  nama: 'Cuci',
  durasi: 2_130,
  harga: 15_000,
  harga_sekarang: 9_000,
  sampai_ms: null,
  jenis: 'cuci',
  ukuran: null,
  aktif: true,
  berhenti_at: null,
  pulsa: 1,
  berjalan: 0,
  aturan: [{ hari: [1], dari: '22:00', sampai: '06:00', harga: 9_000 }],
}
const form = formOf(service)

it('sends what was changed and nothing else', () => {
  expect(changeOf(form, service)).toBeNull()
  expect(changeOf({ ...form, nama: ' Cuci ', ukuran: '  ' }, service)).toBeNull()
  expect(changeOf({ ...form, harga: '16000' }, service)).toEqual({ harga: 16_000 })
  expect(changeOf({ ...form, jenis: null, ukuran: '14 kg' }, service)).toEqual({
    jenis: null,
    ukuran: '14 kg',
  })
  expect(changeOf({ ...form, aturan: [] }, service)).toEqual({ aturan: [] })
  expect(changeOf({ ...form, pulsa: '4' }, service)).toEqual({ pulsa: 4 })
  expect(Object.keys(faultsOf({ ...form, pulsa: '21' }))).toEqual(['pulsa'])
})

it('a duration keeps its seconds while its minutes are the same', () => {
  expect(form.menit).toBe('35')
  expect(changeOf({ ...form, menit: '035' }, service)).toBeNull()
  expect(changeOf({ ...form, menit: '40' }, service)).toEqual({ durasi: 2_400 })
})

it('a new service has every field', () => {
  expect(newOf({ ...form, ukuran: ' ' }, 3)).toEqual({
    idoutlet: 3,
    nama: 'Cuci',
    harga: 15_000,
    durasi: 2_100,
    jenis: 'cuci',
    ukuran: null,
    aturan: service.aturan,
    pulsa: 1,
  })
})

it('names what is wrong', () => {
  expect(faultsOf(form)).toEqual({})
  expect(Object.keys(faultsOf(formOf(null)))).toEqual(['nama', 'harga', 'menit'])
  expect(faultsOf({ ...form, harga: '20000001', menit: '1441' })).toEqual({
    harga: 'Harga paling banyak Rp 20.000.000',
    menit: 'Lama harus 1 sampai 1440 menit',
  })
  expect(faultsOf({ ...form, aturan: [...form.aturan, ...form.aturan] }).aturan).toContain('bertumpuk')
})

it('the button says the price where that alone is new', () => {
  expect(saveLabel(form, service)).toBe('Simpan')
  expect(saveLabel({ ...form, harga: '16000' }, service)).toBe('Simpan harga Rp 16.000')
  expect(saveLabel({ ...form, harga: '16000', nama: 'Cuci 2' }, service)).toBe('Simpan')
  expect(saveLabel({ ...form, harga: '16000' }, null)).toBe('Simpan')
})

it('a draft is for the person who typed it, at that outlet', () => {
  serviceDraft.write({ who: 1, idoutlet: 3, id: 4, form })
  expect(serviceDraft.read(1, 3)?.form).toEqual(form)
  expect(serviceDraft.read(2, 3)).toBeNull()
  expect(serviceDraft.read(1, 4)).toBeNull()
})
