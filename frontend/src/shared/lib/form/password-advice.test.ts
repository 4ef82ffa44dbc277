import { expect, it } from 'vitest'
import { longEnough, passwordAdvice } from './password-advice'

const met = (password: string) => passwordAdvice(password).map((advice) => advice.met)

it('ticks each piece of advice by itself', () => {
  expect(met('')).toEqual([false, false, false, false])
  expect(met('rahasia')).toEqual([false, false, true, false])
  expect(met('RAHASIA1')).toEqual([true, true, false, true])
  expect(met('Rahasia123')).toEqual([true, true, true, true])
})

it('counts characters as the server does', () => {
  expect(longEnough('1234567')).toBe(false)
  expect(longEnough('12345678')).toBe(true)
  expect(longEnough('🧺🧺🧺🧺')).toBe(false)
  expect(longEnough('🧺'.repeat(8))).toBe(true)
})
