/// <reference lib="webworker" />
import { cacheName, outdated, type Precached, ruleFor } from './rules'

declare const self: ServiceWorkerGlobalScope & { __WB_MANIFEST: Precached[] }

/** Every file of this build; the list is written in by the build. */
const files = self.__WB_MANIFEST
const SHELL = cacheName(files)
const PAGE = '/index.html'

/** How long a screen waits for the network before the kept one is shown. */
const PATIENCE_MS = 3_000

self.addEventListener('install', (event) => {
  event.waitUntil(fill())
})

self.addEventListener('activate', (event) => {
  event.waitUntil(begin())
})

// The page asks for the change of version, so that it never happens in the middle of something.
self.addEventListener('message', (event) => {
  if (event.data === 'activate') event.waitUntil(self.skipWaiting())
})

self.addEventListener('fetch', (event) => {
  const rule = ruleFor(event.request, self.location.origin)
  if (rule === 'page') event.respondWith(page(event))
  if (rule === 'asset') event.respondWith(asset(event.request))
})

/** Fetches this build; what the last one already had under the same name is not fetched again. */
async function fill(): Promise<void> {
  const cache = await caches.open(SHELL)
  await Promise.all(
    files.map(async ({ url, revision }) => {
      const address = new URL(url, self.location.origin).pathname
      const kept = revision === null ? await caches.match(address) : undefined
      const response = kept ?? (await fetch(address, { cache: revision === null ? 'default' : 'no-cache' }))
      if (!response.ok) throw new Error(`${address} answered ${response.status}`)
      await cache.put(address, response)
    }),
  )
}

async function begin(): Promise<void> {
  await self.registration.navigationPreload?.enable()
  await Promise.all(outdated(await caches.keys(), SHELL).map((name) => caches.delete(name)))
  await self.clients.claim()
}

/** The network's page, which is always of the newest version; the kept one when there is no answer in time. */
async function page(event: FetchEvent): Promise<Response> {
  const kept = await caches.match(PAGE, { cacheName: SHELL })
  const fresh = (async () => {
    const preloaded: unknown = await event.preloadResponse
    return preloaded instanceof Response ? preloaded : fetch(event.request)
  })()
  if (!kept) return fresh
  const answered = fresh.then((response) => (response.status >= 500 ? kept : response)).catch(() => kept)
  event.waitUntil(answered)
  return Promise.race([answered, later(PATIENCE_MS).then(() => kept)])
}

/** The name of a built file changes with its content: what is kept is right. */
async function asset(request: Request): Promise<Response> {
  return (await caches.match(request)) ?? fetch(request)
}

function later(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
