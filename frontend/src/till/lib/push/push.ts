import { bodyOf, type PushState, possible, refusal, subscribedWith } from '@/shared/push/subscription'
import { getPushKey, subscribeHere, unsubscribeHere } from '@/till/api/alert-calls'
import { wantsAlerts } from './wants-alerts'

/** The till's service worker, for alerts alone. Without it the till has none: it always comes from the network. */
const WORKER = '/kasir/sw.js'
const SCOPE = '/kasir/'
/** Time limit for its installation, after a tap. */
const READY_MS = 15_000

async function present(): Promise<ServiceWorkerRegistration | null> {
  // The customers' worker answers for this address as long as the till has none.
  const registration = await navigator.serviceWorker.getRegistration(SCOPE)
  return registration?.scope.endsWith(SCOPE) ? registration : null
}

async function installed(): Promise<ServiceWorkerRegistration> {
  const registration = await navigator.serviceWorker.register(WORKER, {
    scope: SCOPE,
    updateViaCache: 'none',
  })
  const worker = registration.installing ?? registration.waiting
  if (registration.active || !worker) return registration
  await new Promise<void>((done, fail) => {
    setTimeout(() => fail(new Error('the service worker is not there')), READY_MS)
    worker.addEventListener('statechange', () => worker.state === 'activated' && done())
  })
  return registration
}

async function subscribe({ pushManager }: ServiceWorkerRegistration): Promise<void> {
  const { kunci } = await getPushKey()
  await subscribeHere(bodyOf(await subscribedWith(pushManager, kunci)))
}

/** The state of this browser, which subscribes again if its owner wants alerts. */
export async function checkAlerts(): Promise<PushState> {
  const state = possible()
  if (state) return state
  if (Notification.permission !== 'granted' || !wantsAlerts.read()) return 'off'
  await subscribe(await installed())
  return 'on'
}

/** Asks for permission, which requires a tap, and subscribes. */
export async function turnAlertsOn(): Promise<PushState> {
  const state = possible() ?? (await refusal())
  if (state) return state
  await subscribe(await installed())
  wantsAlerts.write(true)
  return 'on'
}

/** Ends alerts in this browser, even if the server does not receive the request. */
export async function turnAlertsOff(): Promise<PushState> {
  const subscription = await (await present())?.pushManager.getSubscription()
  await subscription?.unsubscribe()
  wantsAlerts.clear()
  if (subscription) await unsubscribeHere(subscription.endpoint)
  return 'off'
}
