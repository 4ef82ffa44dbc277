/** Beside the service worker's caches of the app: what is in it outlives a new version of the app. */
const CACHE = 'nyala-decoder'
/** A network that takes longer will not bring it. */
const TIMEOUT_MS = 60_000
/** How every WebAssembly file begins. */
const MAGIC = [0x00, 0x61, 0x73, 0x6d]

/**
 * The bytes of a WebAssembly file. Fetched once and kept: the next visit needs no network for it. Its name changes with
 * its content, so what is kept is right. Rejects when it cannot be fetched.
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
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), TIMEOUT_MS)
  try {
    const response = await fetch(address, { signal: limit.signal })
    const bytes = await response.arrayBuffer()
    // A network that wants a login first answers with a page of its own.
    if (!response.ok || !isWasm(bytes)) throw new Error(`${address} is no WebAssembly`)
    return bytes
  } finally {
    clearTimeout(timer)
  }
}

/** One file at a time: that of an older version is not asked for again. */
async function keep(cache: Cache, address: string, bytes: ArrayBuffer): Promise<void> {
  for (const older of await cache.keys()) await cache.delete(older)
  await cache.put(address, new Response(bytes, { headers: { 'content-type': 'application/wasm' } }))
}

/** Null where nothing can be kept: an insecure address, a private window. */
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
