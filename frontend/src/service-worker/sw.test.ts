import { beforeAll, beforeEach, expect, it, vi } from 'vitest'

/** The callbacks that a workbox strategy calls on its plugin. */
interface Plugin {
  cacheWillUpdate: () => Promise<null>
  cachedResponseWillBeUsed: () => Promise<Response | undefined>
  handlerWillRespond: (given: { response: Response }) => Promise<Response>
}

const workbox = vi.hoisted(() => ({
  shell: undefined as Response | undefined,
  pages: undefined as { networkTimeoutSeconds: number; plugins: [Plugin] } | undefined,
  denied: [] as RegExp[],
}))
vi.mock('workbox-core', () => ({ clientsClaim: () => undefined }))
vi.mock('workbox-navigation-preload', () => ({ enable: () => undefined }))
vi.mock('workbox-precaching', () => ({
  cleanupOutdatedCaches: () => undefined,
  precacheAndRoute: () => undefined,
  matchPrecache: async (url: string) => (url === '/index.html' ? workbox.shell : undefined),
}))
vi.mock('workbox-routing', () => ({
  registerRoute: () => undefined,
  NavigationRoute: class {
    constructor(_: unknown, { denylist }: { denylist: RegExp[] }) {
      workbox.denied = denylist
    }
  },
}))
vi.mock('workbox-strategies', () => ({
  NetworkFirst: class {
    constructor(options: NonNullable<typeof workbox.pages>) {
      workbox.pages = options
    }
  },
}))

/** An open page of this origin. */
const page = (path: string, visibilityState = 'visible') => ({
  url: `https://nyala.example${path}`,
  visibilityState,
  postMessage: vi.fn(),
  focus: vi.fn(async () => undefined),
})

const handlers = new Map<string, (event: object) => void>()
let open: ReturnType<typeof page>[]
const worker = {
  addEventListener: (type: string, handler: (event: object) => void) => handlers.set(type, handler),
  clients: { matchAll: async () => open, openWindow: vi.fn(async () => null) },
  registration: { showNotification: vi.fn(async () => undefined) },
  skipWaiting: vi.fn(async () => undefined),
}

/** Dispatches the event and waits until the service worker has handled it. */
async function happen(type: string, event: object): Promise<void> {
  const work: Promise<unknown>[] = []
  handlers.get(type)?.({ waitUntil: (one: Promise<unknown>) => work.push(one), ...event })
  await Promise.all(work)
}

const MESSAGE = {
  judul: 'Cucian selesai',
  isi: 'Cuci 03 di Laundry Melati',
  tuju: '/riwayatPage',
  tanda: 'n1',
}
const push = (message: unknown) => happen('push', { data: { text: () => JSON.stringify(message) } })
const click = (close = vi.fn()) =>
  happen('notificationclick', { notification: { close, data: '/riwayatPage' } })

beforeAll(async () => {
  vi.stubGlobal('self', worker)
  await import('./sw')
})

beforeEach(() => {
  vi.clearAllMocks()
  vi.stubGlobal('self', worker)
  open = []
})

it('a push is a notification of the phone while no page is in sight', async () => {
  open = [page('/dashboard', 'hidden')]
  await push(MESSAGE)
  expect(worker.registration.showNotification).toHaveBeenCalledWith('Cucian selesai', {
    body: 'Cuci 03 di Laundry Melati',
    tag: 'n1',
    icon: '/icons/icon-192.png',
    lang: 'id',
    data: '/riwayatPage',
  })
  expect(open[0]?.postMessage).not.toHaveBeenCalled()
})

it('and a message of the pages in sight otherwise, of which a till is none', async () => {
  const [seen, hidden, till] = [page('/akun'), page('/dashboard', 'hidden'), page('/kasir')]
  open = [seen, hidden, till]
  await push(MESSAGE)
  expect(seen.postMessage.mock.calls).toEqual([[{ push: { judul: MESSAGE.judul, isi: MESSAGE.isi } }]])
  expect(hidden.postMessage).not.toHaveBeenCalled()
  expect(till.postMessage).not.toHaveBeenCalled()
  expect(worker.registration.showNotification).not.toHaveBeenCalled()
  open = [till]
  await push(MESSAGE)
  expect(worker.registration.showNotification).toHaveBeenCalledOnce()
})

it('what is no message of ours is not shown', async () => {
  await push({ ...MESSAGE, tuju: 'https://elsewhere.example' })
  await happen('push', { data: null })
  expect(worker.registration.showNotification).not.toHaveBeenCalled()
})

it('a notification leads to its screen in the page that is open, else in a new one', async () => {
  const close = vi.fn()
  const [till, app] = [page('/kasir'), page('/dashboard', 'hidden')]
  open = [till, app]
  await click(close)
  expect(close).toHaveBeenCalledOnce()
  expect(app.focus).toHaveBeenCalledOnce()
  expect(app.postMessage).toHaveBeenCalledWith({ open: '/riwayatPage' })
  expect(worker.clients.openWindow).not.toHaveBeenCalled()
  open = [till]
  await click()
  expect(worker.clients.openWindow).toHaveBeenCalledWith('/riwayatPage')
})

it('takes over when the page says so, in the words of today and of before workbox, and at nothing else', async () => {
  await happen('message', { data: { type: 'halo' } })
  await happen('message', { data: null })
  expect(worker.skipWaiting).not.toHaveBeenCalled()
  await happen('message', { data: { type: 'SKIP_WAITING' } })
  await happen('message', { data: 'activate' })
  expect(worker.skipWaiting).toHaveBeenCalledTimes(2)
})

it('what versions before workbox kept goes, and nothing else', async () => {
  const kept = new Set(['nyala-shell-1', 'nyala-shell-2', 'workbox-precache', 'lain'])
  vi.stubGlobal('caches', { keys: async () => [...kept], delete: async (name: string) => kept.delete(name) })
  await happen('activate', {})
  expect([...kept]).toEqual(['workbox-precache', 'lain'])
})

it('a page is the network’s, or the kept one where that takes 3 s or is a proxy’s failure', async () => {
  const plugin = workbox.pages?.plugins[0] as Plugin
  expect(workbox.pages?.networkTimeoutSeconds).toBe(3)
  workbox.shell = new Response('kept')
  expect(await plugin.cachedResponseWillBeUsed()).toBe(workbox.shell)
  // The precache already has it.
  expect(await plugin.cacheWillUpdate()).toBeNull()
  const answer = (status: number) => plugin.handlerWillRespond({ response: new Response('', { status }) })
  expect(await answer(502)).toBe(workbox.shell)
  expect((await answer(404)).status).toBe(404)
  workbox.shell = undefined
  expect((await answer(502)).status).toBe(502)
  expect(workbox.denied.some((own) => own.test('/scan/v1/dashboard'))).toBe(true)
})
