/** Whether this browser notifies its owner while no page is open (docs/contract.md §8). */
export type PushState =
  /** Not checked yet, or wanted and not yet renewed. */
  | 'unknown'
  /** The browser does not support pushes. */
  | 'unsupported'
  /** An iPhone supports pushes once the app is on its home screen. */
  | 'homeScreenFirst'
  /** The owner has forbidden notifications; only the browser's settings change that. */
  | 'refused'
  | 'off'
  | 'on'

/** The body of `push/langganan`. */
export interface SubscriptionBody {
  endpoint: string
  p256dh: string
  auth: string
}

/** Why pushes cannot be turned on here; null when they can. */
export function possible(): PushState | null {
  if (!('serviceWorker' in navigator)) return 'unsupported'
  if (!('PushManager' in window) || !('Notification' in window)) {
    return 'standalone' in navigator && !navigator.standalone ? 'homeScreenFirst' : 'unsupported'
  }
  return Notification.permission === 'denied' ? 'refused' : null
}

/** Asks the owner, which requires a tap; null when they agree. */
export async function refusal(): Promise<PushState | null> {
  const permission = await Notification.requestPermission()
  return permission === 'granted' ? null : permission === 'denied' ? 'refused' : 'off'
}

export function bodyOf(subscription: PushSubscription): SubscriptionBody {
  const { endpoint = '', keys } = subscription.toJSON()
  return { endpoint, p256dh: keys?.p256dh ?? '', auth: keys?.auth ?? '' }
}

const bytes = (key: ArrayBuffer | null | undefined) =>
  key ? String.fromCharCode(...new Uint8Array(key)) : null
const encoded = (key: string) => btoa(key).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '')

/** A subscription made with the server's key. One made with another key is useless and blocks a new one, so it is removed. */
export async function subscribedWith(pushManager: PushManager, kunci: string): Promise<PushSubscription> {
  const kept = await pushManager.getSubscription()
  const key = bytes(kept?.options?.applicationServerKey)
  if (kept && (key === null || encoded(key) === kunci)) return kept
  await kept?.unsubscribe()
  return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: kunci })
}
