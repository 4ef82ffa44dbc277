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
import { openScreen } from './open-screen'
import { type PushMessage, readPush, SERVERS_OWN } from './rules'

declare const self: ServiceWorkerGlobalScope & { __WB_MANIFEST: PrecacheEntry[] }

/** Time that a page load waits for the network before the precached page is shown. */
const PATIENCE_S = 3

// Every file of this build, with a content hash in its name; the build inserts the list.
precacheAndRoute(self.__WB_MANIFEST, { cleanURLs: false, directoryIndex: '' })
cleanupOutdatedCaches()
enableNavigationPreload()
clientsClaim()

/** A page load prefers the network, which always has the newest version; the precached page is used when no answer arrives in time. */
const kept = () => matchPrecache('/index.html')
registerRoute(
  new NavigationRoute(
    new NetworkFirst({
      networkTimeoutSeconds: PATIENCE_S,
      plugins: [
        {
          cacheWillUpdate: async () => null,
          cachedResponseWillBeUsed: kept,
          // The check also covers a navigation preload: a proxy's error page is not a screen.
          handlerWillRespond: async ({ response }) =>
            response.status < 500 ? response : ((await kept()) ?? response),
        },
      ],
    }),
    { denylist: [SERVERS_OWN] },
  ),
)

self.addEventListener('activate', (event) => {
  // Caches of versions before workbox.
  const old = async () => {
    const names = (await caches.keys()).filter((name) => name.startsWith('nyala-shell-'))
    await Promise.all(names.map((name) => caches.delete(name)))
  }
  event.waitUntil(old())
})

// The page requests the change of version, so that it never happens during another action; pages from before workbox send the plain
// string.
self.addEventListener('message', ({ data }) => {
  if (data === 'activate' || data?.type === 'SKIP_WAITING') void self.skipWaiting()
})

self.addEventListener('push', (event) => {
  const message = readPush(event.data?.text())
  if (message) event.waitUntil(notify(message))
})

self.addEventListener('notificationclick', (event) => {
  event.notification.close()
  event.waitUntil(appPages().then((pages) => openScreen(pages, String(event.notification.data))))
})

/** A visible page shows the message itself; otherwise the phone shows a notification. */
async function notify({ judul, isi, tuju, tanda }: PushMessage): Promise<void> {
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

/** Open pages of the app. A till in the same browser is excluded: it would show nothing. */
async function appPages(): Promise<WindowClient[]> {
  const pages = await self.clients.matchAll({ type: 'window' })
  return pages.filter(({ url }) => !SERVERS_OWN.test(new URL(url).pathname)) as WindowClient[]
}
