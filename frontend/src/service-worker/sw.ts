/// <reference lib="webworker" />
import { clientsClaim } from 'workbox-core'
import { enable as enableNavigationPreload } from 'workbox-navigation-preload'
import {
  cleanupOutdatedCaches,
  matchPrecache,
  type PrecacheEntry,
  precacheAndRoute,
} from 'workbox-precaching'
import { NavigationRoute, registerRoute } from 'workbox-routing'
import { NetworkFirst } from 'workbox-strategies'
import { type PushNews, readNews, SERVERS_OWN } from './rules'

declare const self: ServiceWorkerGlobalScope & { __WB_MANIFEST: PrecacheEntry[] }

/** How long a screen waits for the network before the kept one is shown. */
const PATIENCE_S = 3

// Every file of this build, whose names change with their content; the list is written in by the build.
precacheAndRoute(self.__WB_MANIFEST, { cleanURLs: false, directoryIndex: '' })
cleanupOutdatedCaches()
enableNavigationPreload()
clientsClaim()

/** The page is the network's, which is always of the newest version; the kept one when there is no answer in time. */
const kept = () => matchPrecache('/index.html')
registerRoute(
  new NavigationRoute(
    new NetworkFirst({
      networkTimeoutSeconds: PATIENCE_S,
      plugins: [
        {
          cacheWillUpdate: async () => null,
          cachedResponseWillBeUsed: kept,
          // Also where it came ahead of the service worker: a proxy's page is no screen.
          handlerWillRespond: async ({ response }) =>
            response.status < 500 ? response : ((await kept()) ?? response),
        },
      ],
    }),
    { denylist: [SERVERS_OWN] },
  ),
)

self.addEventListener('activate', (event) => {
  // What versions before workbox kept.
  const old = async () => {
    const names = (await caches.keys()).filter((name) => name.startsWith('nyala-shell-'))
    await Promise.all(names.map((name) => caches.delete(name)))
  }
  event.waitUntil(old())
})

// The page asks for the change of version, so that it never happens in the middle of something; pages of before
// workbox in one word.
self.addEventListener('message', ({ data }) => {
  if (data === 'activate' || data?.type === 'SKIP_WAITING') void self.skipWaiting()
})

self.addEventListener('push', (event) => {
  const news = readNews(event.data?.text())
  if (news) event.waitUntil(tell(news))
})

self.addEventListener('notificationclick', (event) => {
  event.notification.close()
  event.waitUntil(open(String(event.notification.data)))
})

/** A page in sight says it itself; otherwise the phone does. */
async function tell({ judul, isi, tuju, tanda }: PushNews): Promise<void> {
  const inSight = (await appPages()).filter((page) => page.visibilityState === 'visible')
  for (const page of inSight) page.postMessage({ push: { judul, isi } })
  if (inSight.length > 0) return
  await self.registration.showNotification(judul, {
    body: isi,
    tag: tanda,
    icon: '/icons/icon-192.png',
    lang: 'id',
    data: tuju,
  })
}

/** Shows the screen in a page that is open, or opens one. */
async function open(path: string): Promise<void> {
  const [page] = await appPages()
  if (!page) {
    await self.clients.openWindow(path)
    return
  }
  await page.focus()
  page.postMessage({ open: path })
}

/** Pages of the app: a till in the same browser is none, and would say nothing. */
async function appPages(): Promise<WindowClient[]> {
  const pages = await self.clients.matchAll({ type: 'window' })
  return pages.filter(({ url }) => !SERVERS_OWN.test(new URL(url).pathname)) as WindowClient[]
}
