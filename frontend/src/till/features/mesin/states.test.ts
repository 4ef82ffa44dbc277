import { expect, it } from 'vitest'
import { lookOf, stateName } from '@/till/lib/machine/state-name'
import { sharedStart } from './states'

it.each([
  [['Cuci 01', 'Cuci 02'], 5],
  [['Cuci 01', 'Cuci 01 besar'], 5],
  [['Mesin besar 1', 'Mesin kecil 2'], 6],
  [['Cuci 01'], 0],
  [['A1', 'A2'], 0],
  [['Cuci', 'Cuci 2'], 0],
  [['Cuci ', 'Cuci 2'], 0],
  [[], 0],
])('the shared beginning of %j', (names, length) => {
  expect(sharedStart(names)).toBe(length)
})

it('a state of a newer server has a name and no look of a known one', () => {
  expect(lookOf('menguap')).toBeNull()
  expect(stateName('menguap')).toBe('Tidak dikenal')
  expect(stateName('siap')).toBe('Siap')
})
