import { describe, expect, it } from 'vitest'
import { cacheName, outdated, ruleFor } from './rules'

const ORIGIN = 'https://nyala.example'

const rule = (path: string, { mode = 'cors', method = 'GET' } = {}) =>
  ruleFor({ method, mode, url: new URL(path, ORIGIN).href }, ORIGIN)

describe('ruleFor', () => {
  it('answers screens, also deep ones and those named like a prefix', () => {
    for (const path of ['/', '/dashboard', '/otp/81234567890', '/scanPage', '/riwayatPage?x=1']) {
      expect(rule(path, { mode: 'navigate' }), path).toBe('page')
    }
  })

  it("leaves the server's own addresses to the server, pages too", () => {
    for (const path of [
      '/scan/v1/dashboard/get_dashboard',
      '/dev/whatsapp',
      '/docs/',
      '/docs',
      '/ops/v1/owner',
      '/kasir',
      '/kasir/masuk',
      '/healthz',
      '/socket.io/?EIO=4',
    ]) {
      expect(rule(path), path).toBe('network')
      expect(rule(path, { mode: 'navigate' }), path).toBe('network')
    }
  })

  it('keeps built files and nothing else', () => {
    expect(rule('/assets/index-abc.js')).toBe('asset')
    expect(rule('/manifest.webmanifest')).toBe('network')
    expect(rule('https://elsewhere.example/assets/index-abc.js')).toBe('network')
    expect(rule('/assets/index-abc.js', { method: 'POST' })).toBe('network')
  })
})

describe('the name of the cache', () => {
  const files = [
    { url: 'index.html', revision: 'a' },
    { url: 'assets/x-1.js', revision: null },
  ]

  it('is of this build alone', () => {
    expect(cacheName(files)).toBe(cacheName(structuredClone(files)))
    expect(cacheName(files)).not.toBe(cacheName([{ url: 'index.html', revision: 'b' }]))
    expect(cacheName(files)).toMatch(/^nyala-shell-[0-9a-f]+$/)
  })

  it('tells other builds from what is not ours', () => {
    const current = cacheName(files)
    expect(outdated([current, 'nyala-shell-1', 'somebody'], current)).toEqual(['nyala-shell-1'])
  })
})
