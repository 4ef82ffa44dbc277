/// <reference lib="webworker" />
// The till's service worker: alerts and nothing else. The till itself always comes from the network.
import { openScreen } from './open-screen'
import { type AlertMessage, readAlert, TILL } from './rules'
import { alertCopy } from './till-copy'

declare const self: ServiceWorkerGlobalScope

/** Fields of the standard that the library of types lacks. */
interface Options extends NotificationOptions {
  actions?: { action: string; title: string }[]
  renotify?: boolean
}

const ATTENTION = '/kasir/perhatian'
const TAKE = 'tangani'
const TIMEOUT_MS = 15_000

self.addEventListener('install', () => void self.skipWaiting())
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()))

self.addEventListener('push', (event) => {
  const message = readAlert(event.data?.text())
  if (message) event.waitUntil(Promise.all([show(message), refresh()]))
})

self.addEventListener('notificationclick', (event) => {
  const { notification, action } = event
  notification.close()
  const message = notification.data as AlertMessage
  const taking = action === TAKE && message.tangani !== null
  event.waitUntil(taking ? take(message) : tillPages().then((pages) => openScreen(pages, message.tuju)))
})

/** An alert with something to take rings, also when it is repeated. What replaces it says so silently. */
function show(message: AlertMessage): Promise<void> {
  const { judul, isi, tuju, tanda, tangani } = message
  const options: Options = {
    body: isi,
    tag: tanda,
    icon: '/icons/icon-192.png',
    lang: 'id',
    data: message,
    renotify: tangani !== null,
    silent: tangani === null && tuju === ATTENTION,
    actions: [
      ...(tangani === null ? [] : [{ action: TAKE, title: alertCopy.take }]),
      { action: 'lihat', title: alertCopy.look },
    ],
  }
  return self.registration.showNotification(judul, options)
}

/** Takes the entry with the browser's cookie alone, and says what came of it in place of the alert. */
async function take(message: AlertMessage): Promise<void> {
  const { judul, isi, tangani } = message
  const [title, body] = alertCopy.taken(await answerTo(tangani))
  // Without an answer the same button is offered again.
  const again = title === alertCopy.unsent ? tangani : null
  await show({ ...message, judul: title, isi: [judul, isi, body].filter(Boolean).join('. '), tangani: again })
  await refresh()
}

/** The status of the server's answer; 0 for none. */
async function answerTo(tangani: string | null): Promise<number> {
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), TIMEOUT_MS)
  try {
    const { status } = await fetch('/ops/v1/perhatian/tangani', {
      method: 'POST',
      credentials: 'same-origin',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ tangani }),
      signal: limit.signal,
    })
    return status
  } catch {
    return 0
  } finally {
    clearTimeout(timer)
  }
}

/** Open pages ask for the entries again. */
async function refresh(): Promise<void> {
  for (const page of await tillPages()) page.postMessage({ attention: true })
}

async function tillPages(): Promise<WindowClient[]> {
  // The address `/kasir` itself is outside of the scope.
  const pages = await self.clients.matchAll({ type: 'window', includeUncontrolled: true })
  return pages.filter(({ url }) => TILL.test(new URL(url).pathname)) as WindowClient[]
}
