import { withTimeLimit } from '@/shared/lib/net/time-limit'

/** A separate cache beside the service worker's: its content survives a new version of the app. */
const CACHE = 'nyala-decoder'
/** Time limit: a slower network will not deliver it. */
const TIMEOUT_MS = 60_000
/** The first bytes of every WebAssembly file. */
const MAGIC = [0x00, 0x61, 0x73, 0x6d]

/**
 * The bytes of a WebAssembly file. Fetched once and cached: the next visit needs no network for it. Its name changes with its content, so
 * a cached file is always right. Rejects when it cannot be fetched.
 */
export async function loadWasm(address: string): Promise<ArrayBuffer> {
  const cache = await openCache()
  const kept = await cache?.match(address).catch(() => undefined)
  if (kept) {
    const bytes = await kept.arrayBuffer()
    if (isWasm(bytes)) return bytes
  }
  const bytes = await fetchWasm(address)
  if (cache) void keep(cache, address, bytes).catch(() => undefined)
  return bytes
}

async function fetchWasm(address: string): Promise<ArrayBuffer> {
  return withTimeLimit(TIMEOUT_MS, async (signal) => {
    const response = await fetch(address, { signal })
    const bytes = await response.arrayBuffer()
    // A network with a login page answers with that page.
    if (!response.ok || !isWasm(bytes)) throw new Error(`${address} is no WebAssembly`)
    return bytes
  })
}

/** One file at a time: an older version's file is not used again. */
async function keep(cache: Cache, address: string, bytes: ArrayBuffer): Promise<void> {
  for (const older of await cache.keys()) await cache.delete(older)
  await cache.put(address, new Response(bytes, { headers: { 'content-type': 'application/wasm' } }))
}

/** Null where caching is impossible: an insecure address, a private window. */
async function openCache(): Promise<Cache | null> {
  try {
    return await caches.open(CACHE)
  } catch {
    return null
  }
}

function isWasm(bytes: ArrayBuffer): boolean {
  const start = new Uint8Array(bytes, 0, Math.min(MAGIC.length, bytes.byteLength))
  return MAGIC.every((byte, i) => start[i] === byte)
}
