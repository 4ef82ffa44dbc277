import { create } from 'zustand'
import { api, call } from '@/shared/api/client'
import type { Nothing } from '@/shared/api/model'
import { currentCustomer } from '@/shared/lib/session/auth-store'
import { CUSTOMER_PREFIX, slot } from '@/shared/lib/session/storage'
import {
  bodyOf,
  type PushState,
  possible,
  refusal,
  type SubscriptionBody,
  subscribedWith,
} from './subscription'

export const usePush = create<{ state: PushState }>(() => ({ state: 'unknown' }))

/** Time limit for the service worker, which is installed when the phone is idle, after a tap. */
const READY_MS = 15_000

/** This customer's wish for pushes on this phone: a new login subscribes again, because the end of the old one has unsubscribed. */
const wanted = () =>
  slot<boolean>('local', `${CUSTOMER_PREFIX}${currentCustomer()}.push`, (value) => value === true)

const register = (body: SubscriptionBody): Promise<Nothing> =>
  call((init) => api.POST('/scan/v1/push/langganan', { ...init, body }))

const present = async () => (await navigator.serviceWorker.getRegistration())?.pushManager.getSubscription()

async function subscription(pushManager: PushManager): Promise<SubscriptionBody> {
  const { kunci } = await call((init) => api.GET('/scan/v1/push/kunci', init))
  return bodyOf(await subscribedWith(pushManager, kunci))
}

/** Determines the state, as far as that is possible without waiting. */
export function glanceAtPush(): void {
  const state = possible() ?? (Notification.permission === 'granted' && wanted().read() ? 'unknown' : 'off')
  usePush.setState({ state })
}

/** Subscribes again where the state is still unknown: a new login may need it. */
export async function renewPush(): Promise<void> {
  if (usePush.getState().state !== 'unknown') return
  const registration = await navigator.serviceWorker.getRegistration()
  if (registration) await register(await subscription(registration.pushManager))
  usePush.setState({ state: registration ? 'on' : 'off' })
}

/** Another customer has logged in: their wish is unknown. */
export const forgetPush = () => usePush.setState({ state: 'unknown' })

/**
 * Asks for permission, which requires a tap, and subscribes. Resolves to the new state.
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
  const refused = await refusal()
  if (refused) return refused
  const { pushManager } = await installed()
  // A customer who logged in during the prompt did not answer it.
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

/** Makes this browser reject further pushes, even if the server still has the subscription. */
export async function dropSubscription(): Promise<void> {
  await (await present())?.unsubscribe()
}

/** Ends pushes on this phone, even if the server does not receive the request: the next owner of the phone must see none. */
export async function turnPushOff(): Promise<void> {
  const kept = await present()
  await kept?.unsubscribe()
  wanted().clear()
  usePush.setState({ state: 'off' })
  if (!kept) return
  const body = { endpoint: kept.endpoint }
  await call((init) => api.POST('/scan/v1/push/berhenti', { ...init, body }))
}
