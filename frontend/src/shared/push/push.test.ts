import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { useAuth } from '@/shared/lib/session/auth-store'
import { lastOf } from '@/shared/lib/text/last-of'
import { forgetPush, glanceAtPush, renewPush, turnPushOff, turnPushOn, usePush } from './push'

const KEY = 'AQID'
const ENDPOINT = 'https://push.example/1'

/** The browser's push service: its subscription, and the number of subscribe calls. */
let subscribed: { endpoint: string; key: Uint8Array } | null
let subscribes: number
/** The calls to the server, in order. */
let calls: [path: string, body: unknown][]
let permission: NotificationPermission
/** The customer's answer to the browser's prompt. */
let reply: NotificationPermission

const pushManager = {
  async getSubscription() {
    if (!subscribed) return null
    const { endpoint, key } = subscribed
    return {
      endpoint,
      options: { applicationServerKey: key.buffer },
      toJSON: () => ({ endpoint, keys: { p256dh: 'p', auth: 'a' } }),
      async unsubscribe() {
        subscribed = null
      },
    }
  },
  async subscribe() {
    subscribes += 1
    subscribed = { endpoint: ENDPOINT, key: new Uint8Array([1, 2, 3]) }
    return this.getSubscription()
  },
}

const state = () => usePush.getState().state
const token = (id: number) => `h.${btoa(JSON.stringify({ id_customer_global: id }))}.s`
const paths = () => calls.map(([path]) => path)

function browser(serviceWorker: object | undefined): void {
  vi.stubGlobal('navigator', serviceWorker ? { serviceWorker } : {})
}

beforeEach(() => {
  subscribed = null
  subscribes = 0
  calls = []
  permission = 'default'
  reply = 'granted'
  vi.stubGlobal('PushManager', class {})
  vi.stubGlobal('Notification', {
    get permission() {
      return permission
    },
    async requestPermission() {
      permission = reply
      return reply
    },
  })
  const registration = { pushManager }
  browser({ ready: Promise.resolve(registration), getRegistration: async () => registration })
  vi.stubGlobal('fetch', async (request: Request) => {
    const path = new URL(request.url).pathname.replace('/scan/v1/push/', '')
    calls.push([path, request.method === 'POST' ? await request.json() : null])
    return Response.json({ status: 200, message: 'OK', data: path === 'kunci' ? { kunci: KEY } : null })
  })
  useAuth.getState().signIn(token(1))
  forgetPush()
})

afterEach(() => {
  localStorage.clear()
  vi.useRealTimers()
})

it('a phone that cannot is known at a glance, and nobody is asked', () => {
  browser(undefined)
  glanceAtPush()
  expect(state()).toBe('unsupported')
  Reflect.deleteProperty(window, 'PushManager')
  browser({})
  glanceAtPush()
  expect(state()).toBe('unsupported')
  // An iPhone's browser: the same app supports pushes from the home screen.
  vi.stubGlobal('navigator', { serviceWorker: {}, standalone: false })
  glanceAtPush()
  expect(state()).toBe('homeScreenFirst')
  expect(calls).toEqual([])
})

it('so is one that forbids it, and one where it is off', () => {
  permission = 'denied'
  glanceAtPush()
  expect(state()).toBe('refused')
  permission = 'granted'
  glanceAtPush()
  expect(state()).toBe('off')
})

it('a tap subscribes with the server’s key, and tells the server', async () => {
  expect(await turnPushOn()).toBe('on')
  expect(state()).toBe('on')
  expect(calls).toEqual([
    ['kunci', null],
    ['langganan', { endpoint: ENDPOINT, p256dh: 'p', auth: 'a' }],
  ])
})

it.each([
  ['denied', 'refused'],
  ['default', 'off'],
] as const)('a customer who answers %s is not subscribed', async (answer, then) => {
  reply = answer
  expect(await turnPushOn()).toBe(then)
  expect(state()).toBe(then)
  expect(subscribed).toBeNull()
  expect(calls).toEqual([])
})

it('a subscription that is there is kept, and one with another server’s key replaced', async () => {
  await turnPushOn()
  await turnPushOn()
  expect(subscribes).toBe(1)
  subscribed = { endpoint: 'https://push.example/old', key: new Uint8Array([9]) }
  await turnPushOn()
  expect(subscribes).toBe(2)
  expect(lastOf(calls)).toMatchObject(['langganan', { endpoint: ENDPOINT }])
})

it('who comes back is subscribed anew, once, and somebody else is not', async () => {
  await turnPushOn()
  calls = []
  forgetPush()
  glanceAtPush()
  expect(state()).toBe('unknown')
  await renewPush()
  expect(state()).toBe('on')
  expect(paths()).toEqual(['kunci', 'langganan'])
  // The state is known now: the next screen sends no request.
  await renewPush()
  expect(paths()).toHaveLength(2)

  useAuth.getState().signIn(token(2))
  forgetPush()
  glanceAtPush()
  expect(state()).toBe('off')
  await renewPush()
  expect(paths()).toHaveLength(2)
})

it('who has logged in while the browser asked was not asked', async () => {
  vi.stubGlobal('Notification', {
    permission: 'default',
    async requestPermission() {
      useAuth.getState().signIn(token(2))
      return 'granted'
    },
  })
  expect(await turnPushOn()).toBe('unknown')
  expect(subscribed).toBeNull()
  expect(calls).toEqual([])
})

it('a service worker that does not come is waited for 15 s, then it has failed', async () => {
  vi.useFakeTimers()
  browser({ ready: new Promise(() => undefined), getRegistration: async () => undefined })
  const failed = vi.fn()
  void turnPushOn().catch(failed)
  await vi.advanceTimersByTimeAsync(14_999)
  expect(failed).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(failed).toHaveBeenCalledOnce()
  expect(state()).toBe('unknown')
})

it('turned off it ends at the browser, whatever the server says, and stays off', async () => {
  await turnPushOn()
  calls = []
  vi.stubGlobal('fetch', async (request: Request) => {
    calls.push([new URL(request.url).pathname, await request.json()])
    throw new TypeError('Failed to fetch')
  })
  await expect(turnPushOff()).rejects.toThrow()
  expect(subscribed).toBeNull()
  expect(state()).toBe('off')
  expect(calls[0]).toEqual(['/scan/v1/push/berhenti', { endpoint: ENDPOINT }])
  forgetPush()
  glanceAtPush()
  expect(state()).toBe('off')
})
