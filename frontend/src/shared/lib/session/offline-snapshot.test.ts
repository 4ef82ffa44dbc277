import { beforeEach, describe, expect, it } from 'vitest'
import { useAuth } from './auth-store'
import { offlineSnapshot } from './offline-snapshot'

const token = (id: number) => `h.${btoa(JSON.stringify({ id_customer_global: id }))}.s`
const isText = (data: unknown): data is string => typeof data === 'string'
const place = offlineSnapshot('uji', isText)

describe('what was last seen', () => {
  beforeEach(() => {
    localStorage.clear()
    useAuth.getState().signIn(token(1))
  })

  it('comes back with its age', () => {
    expect(place.load()).toBeNull()
    place.save('Rp 42.000', 1_000)
    expect(place.load()).toEqual({ data: 'Rp 42.000', at: 1_000 })
  })

  it('is never shown to another customer, and ends with the session', () => {
    place.save('Rp 42.000', 1_000)
    useAuth.getState().signIn(token(2))
    expect(place.load()).toBeNull()
    useAuth.getState().signIn(token(1))
    expect(place.load()).not.toBeNull()
    useAuth.getState().signOut()
    useAuth.getState().signIn(token(1))
    expect(place.load()).toBeNull()
  })

  it('is nothing without a login, or in a shape of another version', () => {
    offlineSnapshot('uji', (data): data is number => typeof data === 'number').save(7, 1_000)
    expect(place.load()).toBeNull()
    useAuth.getState().signOut()
    place.save('Rp 42.000', 1_000)
    expect(place.load()).toBeNull()
  })
})
