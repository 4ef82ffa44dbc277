import { expect, it } from 'vitest'
import { changeOf, faultsOf, formOf, kindOf, manyOf, namesOf, newOf } from './machine-form'

const form = (part: Partial<ReturnType<typeof formOf>>) => ({ ...formOf(null), ...part })

it('several machines are named as the server names them', () => {
  expect(namesOf(form({ nama: ' Cuci ', jumlah: '8', mulai: '3' }))).toEqual(['Cuci 03', 'Cuci 10'])
  expect(namesOf(form({ nama: 'M-', jumlah: '2', mulai: '99', angka: '1' }))).toEqual(['M-99', 'M-100'])
  expect(namesOf(form({ nama: 'Cuci' }))).toBeNull()
  expect(namesOf(form({ nama: '', jumlah: '2' }))).toBeNull()
})

it('the kind follows the name until one is chosen', () => {
  expect(kindOf(form({ nama: 'Pengering 01' }))).toBe('kering')
  expect(kindOf(form({ nama: 'Cuci 01' }))).toBe('cuci')
  expect(kindOf(form({ nama: 'Pengering 01', jenis: 'lain' }))).toBe('lain')
})

it('numbers are checked where they are used', () => {
  expect(Object.keys(faultsOf(form({ jumlah: '0' })))).toEqual(['jumlah', 'nama'])
  expect(Object.keys(faultsOf(form({ nama: 'A', mulai: '0', angka: '9' })))).toEqual([])
  expect(Object.keys(faultsOf(form({ nama: 'A', jumlah: '2', mulai: '0', angka: '9' })))).toEqual([
    'mulai',
    'angka',
  ])
  expect(Object.keys(faultsOf(form({ nama: 'A', servis: '100001' })))).toEqual(['servis'])
})

it('sends what was typed, and of a change only what differs', () => {
  const typed = form({ nama: ' Cuci ', jumlah: '2', ukuran: ' 14 kg ' })
  expect(newOf(typed, 3)).toEqual({
    idoutlet: 3,
    driver: 'mqtt',
    nama: 'Cuci',
    jenis: 'cuci',
    ukuran: '14 kg',
  })
  expect(manyOf(typed, 3)).toMatchObject({ awalan: 'Cuci', jumlah: 2, mulai: 1, angka: 2 })
  const before = form({ nama: 'Cuci 01', jenis: 'cuci', servis: '500' })
  expect(changeOf(before, before)).toEqual({})
  expect(changeOf({ ...before, servis: '', ukuran: '8 kg' }, before)).toEqual({
    ukuran: '8 kg',
    servis_tiap: null,
  })
})

it('pulses are checked and sent where the machine wants coins', () => {
  const before = form({ nama: 'Cuci 01', jenis: 'cuci' })
  const coins = { ...before, cara: 'pulsa' as const }
  expect(changeOf(coins, before)).toEqual({ cara: 'pulsa' })
  expect(changeOf({ ...coins, pulsa: '4', lebar: '40' }, coins)).toEqual({ pulsa: 4, lebar_ms: 40 })
  expect(changeOf({ ...coins, pulsa: '' }, { ...coins, pulsa: '4' })).toEqual({ pulsa: null })
  expect(newOf(coins, 3)).toMatchObject({ cara: 'pulsa' })
  expect(faultsOf({ ...before, pulsa: '99' })).toEqual({})
  expect(Object.keys(faultsOf({ ...coins, pulsa: '21', jeda: '0' }))).toEqual(['pulsa', 'jeda'])
  expect(changeOf({ ...coins, koin: '1000' }, coins)).toEqual({ nilai_koin: 1_000 })
  expect(changeOf({ ...coins, koin: '' }, { ...coins, koin: '1000' })).toEqual({ nilai_koin: 0 })
  expect(Object.keys(faultsOf({ ...coins, koin: '20000001' }))).toEqual(['koin'])
  expect(Object.keys(faultsOf({ ...coins, pulsa: '20', lebar: '200', jeda: '101' }))).toEqual(['lebar'])
})
