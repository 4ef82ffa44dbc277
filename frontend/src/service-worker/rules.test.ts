import { describe, expect, it } from 'vitest'
import { readPush, SERVERS_OWN } from './rules'

describe('whose address it is', () => {
  it('screens are the app’s, also deep ones and those named like a prefix', () => {
    for (const path of ['/', '/dashboard', '/otp/81234567890', '/scanPage', '/riwayatPage'])
      expect(SERVERS_OWN.test(path), path).toBe(false)
  })

  it('the server’s own addresses are the server’s', () => {
    for (const path of [
      '/scan/v1/dashboard/get_dashboard',
      '/dev/whatsapp',
      '/docs/',
      '/docs',
      '/ops/v1/owner',
      '/kasir',
      '/kasir/masuk',
      '/kasir?x=1',
      '/pindah/9d3c1f',
      '/healthz',
      '/.well-known/security.txt',
      '/socket.io/',
    ])
      expect(SERVERS_OWN.test(path), path).toBe(true)
  })
})

describe('the message of a push', () => {
  const message = {
    judul: 'Cucian selesai',
    isi: 'Cuci 03 di Laundry Melati',
    tuju: '/dashboard',
    tanda: 'a',
  }

  it('is read whole', () => expect(readPush(JSON.stringify(message))).toEqual(message))

  it('leads nowhere but to a screen of ours', () => {
    for (const tuju of [
      'https://elsewhere.example',
      '//elsewhere.example',
      '/\\elsewhere.example',
      'dashboard',
      '',
    ])
      expect(readPush(JSON.stringify({ ...message, tuju })), tuju).toBeNull()
  })

  it('is none when something is missing, or it is no JSON', () => {
    const { isi: _, ...rest } = message
    for (const text of [undefined, '', 'halo', '[]', 'null', JSON.stringify(rest)])
      expect(readPush(text), text).toBeNull()
  })
})
