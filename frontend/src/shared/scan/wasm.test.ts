import { beforeEach, expect, it, vi } from 'vitest'
import { loadWasm } from './wasm'

const WASM = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0])
const PAGE = new TextEncoder().encode('<html>masuk dulu</html>')

let kept: Map<string, Response>
const names: string[] = []

beforeEach(() => {
  kept = new Map()
  names.length = 0
  vi.stubGlobal('caches', {
    async open(name: string) {
      names.push(name)
      return {
        match: async (address: string) => kept.get(address)?.clone(),
        keys: async () => [...kept.keys()],
        delete: async (address: string) => kept.delete(address),
        put: async (address: string, response: Response) => void kept.set(address, response),
      }
    },
  })
})

function network(body: Uint8Array<ArrayBuffer>, status = 200) {
  const fetch = vi.fn(async (_address: string) => new Response(body, { status }))
  vi.stubGlobal('fetch', fetch)
  return fetch
}

it('is fetched once, and kept in place of what an older version used', async () => {
  kept.set('/assets/reader-old.wasm', new Response(WASM))
  const fetch = network(WASM)
  expect(new Uint8Array(await loadWasm('/assets/reader-new.wasm'))).toEqual(WASM)
  await vi.waitFor(() => expect([...kept.keys()]).toEqual(['/assets/reader-new.wasm']))
  expect(new Uint8Array(await loadWasm('/assets/reader-new.wasm'))).toEqual(WASM)
  expect(fetch).toHaveBeenCalledTimes(1)
  // The service worker deletes caches with the prefix of the app's caches.
  expect(names[0]).not.toMatch(/^nyala-shell-/)
})

it('a page in its place, or an error, is a failure and is not kept', async () => {
  network(PAGE)
  await expect(loadWasm('/a.wasm')).rejects.toThrow()
  network(WASM, 503)
  await expect(loadWasm('/a.wasm')).rejects.toThrow()
  expect(kept.size).toBe(0)
})

it('what is kept and broken is fetched anew', async () => {
  kept.set('/a.wasm', new Response(PAGE))
  network(WASM)
  expect(new Uint8Array(await loadWasm('/a.wasm'))).toEqual(WASM)
})

it('works where nothing can be kept', async () => {
  vi.stubGlobal('caches', undefined)
  network(WASM)
  expect(new Uint8Array(await loadWasm('/a.wasm'))).toEqual(WASM)
})

it('a network that never brings it is given up', async () => {
  vi.useFakeTimers()
  vi.stubGlobal(
    'fetch',
    (_address: string, { signal }: { signal: AbortSignal }) =>
      new Promise((_, fail) => signal.addEventListener('abort', () => fail(signal.reason))),
  )
  const failed = expect(loadWasm('/a.wasm')).rejects.toThrow()
  await vi.advanceTimersByTimeAsync(60_000)
  await failed
  vi.useRealTimers()
})
