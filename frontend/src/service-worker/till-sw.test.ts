import { beforeAll, beforeEach, expect, it, vi } from 'vitest'

const page = (path: string) => ({
  url: `https://nyala.example${path}`,
  postMessage: vi.fn(),
  focus: vi.fn(async () => undefined),
})

const handlers = new Map<string, (event: object) => void>()
let open: ReturnType<typeof page>[]
let reply: () => Promise<Response>
const worker = {
  addEventListener: (type: string, handler: (event: object) => void) => handlers.set(type, handler),
  clients: { matchAll: async () => open, openWindow: vi.fn(async () => null), claim: vi.fn() },
  registration: { showNotification: vi.fn(async (_title: string, _options: object) => undefined) },
  skipWaiting: vi.fn(async () => undefined),
}
const fetched = vi.fn((_url: string, _request: RequestInit) => reply())

/** Dispatches the event and waits until the service worker has handled it. */
async function happen(type: string, event: object): Promise<void> {
  const work: Promise<unknown>[] = []
  handlers.get(type)?.({ waitUntil: (one: Promise<unknown>) => work.push(one), ...event })
  await Promise.all(work)
}

const MESSAGE = {
  judul: 'Pengering 06 perlu petugas',
  isi: 'Laundry Melati, sejak 14.32',
  tuju: '/kasir/perhatian',
  tanda: 'a1',
  tangani: 'rahasia' as string | null,
}
const push = (message: unknown) => happen('push', { data: { text: () => JSON.stringify(message) } })
const click = (action = '', data = MESSAGE) =>
  happen('notificationclick', { action, notification: { close: vi.fn(), data } })
const shown = () => worker.registration.showNotification.mock.calls

beforeAll(async () => {
  vi.stubGlobal('self', worker)
  await import('./till-sw')
})

beforeEach(() => {
  vi.clearAllMocks()
  vi.stubGlobal('self', worker)
  vi.stubGlobal('fetch', fetched)
  open = []
  reply = async () => Response.json({ status: 200, message: 'OK', data: null })
})

it('an alert rings and can be taken, and open pages ask again', async () => {
  open = [page('/kasir/mesin'), page('/dashboard')]
  await push(MESSAGE)
  expect(shown()).toEqual([
    [
      MESSAGE.judul,
      expect.objectContaining({
        body: MESSAGE.isi,
        tag: 'a1',
        silent: false,
        renotify: true,
        actions: [
          { action: 'tangani', title: 'Saya tangani' },
          { action: 'lihat', title: 'Lihat' },
        ],
      }),
    ],
  ])
  expect(open[0]?.postMessage.mock.calls).toEqual([[{ attention: true }]])
  expect(open[1]?.postMessage).not.toHaveBeenCalled()
})

it('what replaces it says so silently, and there is nothing to take', async () => {
  await push({ ...MESSAGE, judul: 'Rina ke sana', tangani: null })
  expect(shown()[0]).toEqual([
    'Rina ke sana',
    expect.objectContaining({
      tag: 'a1',
      silent: true,
      renotify: false,
      actions: [{ action: 'lihat', title: 'Lihat' }],
    }),
  ])
  // The figures of the day before ring.
  await push({ ...MESSAGE, tuju: '/kasir/ringkasan', tangani: null })
  expect(shown()[1]?.[1]).toMatchObject({ silent: false })
})

it('what is no alert of the till is not shown', async () => {
  for (const tuju of ['/dashboard', 'https://elsewhere.example/kasir', '/kasirx'])
    await push({ ...MESSAGE, tuju })
  await happen('push', { data: null })
  expect(shown()).toEqual([])
})

it('takes the entry with the cookie alone', async () => {
  await click('tangani')
  expect(fetched.mock.calls).toEqual([
    [
      '/ops/v1/perhatian/tangani',
      expect.objectContaining({
        method: 'POST',
        credentials: 'same-origin',
        headers: { 'content-type': 'application/json' },
        body: '{"tangani":"rahasia"}',
      }),
    ],
  ])
  expect(shown()).toEqual([
    [
      'Anda ke sana',
      expect.objectContaining({ tag: 'a1', body: 'Pengering 06 perlu petugas. Laundry Melati, sejak 14.32' }),
    ],
  ])
  expect(worker.clients.openWindow).not.toHaveBeenCalled()
})

it.each([
  [409, 'Sudah ditangani orang lain', false],
  [404, 'Sudah beres', false],
  [401, 'Buka Perhatian untuk menangani', false],
  [503, 'Belum terkirim', true],
  [0, 'Belum terkirim', true],
])('says what came of it: %d is %s', async (status, title, again) => {
  reply =
    status === 0 ? () => Promise.reject(new TypeError('network')) : async () => new Response('', { status })
  await click('tangani')
  expect(shown()[0]?.[0]).toBe(title)
  const options = shown()[0]?.[1] as { actions: unknown[]; data: typeof MESSAGE }
  expect(options.actions).toHaveLength(again ? 2 : 1)
  expect(options.data.tangani).toBe(again ? 'rahasia' : null)
})

it('a touch leads to the page, in a till that is open or a new one', async () => {
  await click()
  await click('lihat')
  // Its button is no longer there, but an old notification may still have one.
  await click('tangani', { ...MESSAGE, tangani: null })
  expect(worker.clients.openWindow.mock.calls).toEqual([
    ['/kasir/perhatian'],
    ['/kasir/perhatian'],
    ['/kasir/perhatian'],
  ])
  expect(fetched).not.toHaveBeenCalled()
  const till = page('/kasir')
  open = [page('/dashboard'), till]
  await click()
  expect(till.focus).toHaveBeenCalledOnce()
  expect(till.postMessage.mock.calls).toEqual([[{ open: '/kasir/perhatian' }]])
})

it('a new version takes over at once: it serves no files', async () => {
  await happen('install', {})
  await happen('activate', {})
  expect(worker.skipWaiting).toHaveBeenCalledOnce()
  expect(worker.clients.claim).toHaveBeenCalledOnce()
})
