import { create } from 'zustand'
import { api, call } from '@/shared/api/client'
import type { Nothing } from '@/shared/api/model'
import { currentCustomer } from '@/shared/lib/auth-store'
import { CUSTOMER_PREFIX, slot } from '@/shared/lib/storage'

/** Whether this browser tells its customer what happens while the app is closed (docs/contract.md §8). */
export type PushState =
  /** Not looked at yet, or wanted and not yet renewed. */
  | 'unknown'
  /** It cannot. */
  | 'unsupported'
  /** An iPhone can once the app is on its home screen. */
  | 'homeScreenFirst'
  /** Its owner has forbidden it; only the browser's settings change that. */
  | 'refused'
  | 'off'
  | 'on'

export const usePush = create<{ state: PushState }>(() => ({ state: 'unknown' }))

/** The service worker is installed when the phone is idle; whoever taps sooner waits for it no longer. */
const READY_MS = 15_000

/** That this customer wants it on this phone: a new login subscribes again, as the old one's end has unsubscribed. */
const wanted = () =>
  slot<boolean>('local', `${CUSTOMER_PREFIX}${currentCustomer()}.push`, (value) => value === true)

const register = (subscription: PushSubscription): Promise<Nothing> => {
  const { endpoint = '', keys } = subscription.toJSON()
  const body = { endpoint, p256dh: keys?.p256dh ?? '', auth: keys?.auth ?? '' }
  return call((init) => api.POST('/scan/v1/push/langganan', { ...init, body }))
}

function possible(): PushState | null {
  if (!('serviceWorker' in navigator)) return 'unsupported'
  if (!('PushManager' in window) || !('Notification' in window)) {
    return 'standalone' in navigator && !navigator.standalone ? 'homeScreenFirst' : 'unsupported'
  }
  return Notification.permission === 'denied' ? 'refused' : null
}

const present = async () => (await navigator.serviceWorker.getRegistration())?.pushManager.getSubscription()

const bytes = (key: ArrayBuffer | null | undefined) =>
  key ? String.fromCharCode(...new Uint8Array(key)) : null
const encoded = (key: string) => btoa(key).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '')

/** One that was made with this server's key; whatever was made with another one cannot be used, and keeps it out. */
async function subscription(pushManager: PushManager): Promise<PushSubscription> {
  const { kunci } = await call((init) => api.GET('/scan/v1/push/kunci', init))
  const kept = await pushManager.getSubscription()
  const key = bytes(kept?.options?.applicationServerKey)
  if (kept && (key === null || encoded(key) === kunci)) return kept
  await kept?.unsubscribe()
  return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: kunci })
}

/** Looks how it is, as far as that can be told at once. */
export function glanceAtPush(): void {
  const state = possible() ?? (Notification.permission === 'granted' && wanted().read() ? 'unknown' : 'off')
  usePush.setState({ state })
}

/** Subscribes again where a glance has left that open: a login may have come between. */
export async function renewPush(): Promise<void> {
  if (usePush.getState().state !== 'unknown') return
  const registration = await navigator.serviceWorker.getRegistration()
  if (registration) await register(await subscription(registration.pushManager))
  usePush.setState({ state: registration ? 'on' : 'off' })
}

/** Another customer has come: nothing is known of what they want. */
export const forgetPush = () => usePush.setState({ state: 'unknown' })

/**
 * Asks for permission, which must follow a tap, and subscribes. Resolves to how it is then.
 *
 * Fails when the service worker or the browser's push service is out of reach, or the server refuses.
 */
export async function turnPushOn(): Promise<PushState> {
  const state = possible() ?? (await subscribe())
  usePush.setState({ state })
  return state
}

async function subscribe(): Promise<PushState> {
  const customer = currentCustomer()
  const permission = await Notification.requestPermission()
  if (permission !== 'granted') return permission === 'denied' ? 'refused' : 'off'
  const { pushManager } = await installed()
  // Whoever has logged in while the browser asked was not asked.
  if (currentCustomer() !== customer) return 'unknown'
  await register(await subscription(pushManager))
  wanted().write(true)
  return 'on'
}

async function installed(): Promise<ServiceWorkerRegistration> {
  const late = new Promise<never>((_, fail) => {
    setTimeout(() => fail(new Error('the service worker is not there')), READY_MS)
  })
  return Promise.race([navigator.serviceWorker.ready, late])
}

/** This browser takes no more pushes, whatever the server believes. */
export async function dropSubscription(): Promise<void> {
  await (await present())?.unsubscribe()
}

/** Ends it for this phone, whatever the server hears of it: nothing is shown to whoever has it next. */
export async function turnPushOff(): Promise<void> {
  const kept = await present()
  await kept?.unsubscribe()
  wanted().clear()
  usePush.setState({ state: 'off' })
  if (!kept) return
  const body = { endpoint: kept.endpoint }
  await call((init) => api.POST('/scan/v1/push/berhenti', { ...init, body }))
}
