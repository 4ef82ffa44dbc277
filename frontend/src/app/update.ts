import { create } from 'zustand'

/** At most this often a page that is looked at again asks for a new version. */
const CHECK_MS = 15 * 60_000

/** How long the new version may take to take over before the page is loaded anew all the same. */
const CHANGE_OVER_MS = 3_000

interface UpdateState {
  /** Loads the new version; null while this is the newest known. */
  apply: (() => void) | null
}

/** A new version that is there and waits to be taken. */
export const useUpdate = create<UpdateState>(() => ({ apply: null }))

let started = false

/** Begins to serve this app without network, and to watch for new versions. Once a page. */
export async function startServiceWorker(): Promise<void> {
  if (started || !import.meta.env.PROD || !('serviceWorker' in navigator)) return
  started = true
  const { serviceWorker } = navigator
  followChange(serviceWorker)
  try {
    const registration = await serviceWorker.register('/sw.js', { updateViaCache: 'none' })
    followUpdates(registration, serviceWorker)
  } catch {
    // Without it (private mode, no network) everything works but the start without network.
  }
}

/** Another tab took the new version: what this one has loaded is old, and the rest of it is gone. */
function followChange(serviceWorker: ServiceWorkerContainer): void {
  // The first service worker ever changes no version.
  let controlled = serviceWorker.controller !== null
  serviceWorker.addEventListener('controllerchange', () => {
    if (controlled) useUpdate.setState({ apply: () => window.location.reload() })
    controlled = true
  })
}

function followUpdates(registration: ServiceWorkerRegistration, serviceWorker: ServiceWorkerContainer): void {
  const offer = () => {
    const { waiting } = registration
    if (!waiting || !serviceWorker.controller) return
    useUpdate.setState({
      apply() {
        const reload = () => window.location.reload()
        serviceWorker.addEventListener('controllerchange', reload, { once: true })
        // A browser that is slow to change over does so while the page is loaded anew.
        setTimeout(reload, CHANGE_OVER_MS)
        waiting.postMessage('activate')
      },
    })
  }
  const follow = () => registration.installing?.addEventListener('statechange', offer)

  offer()
  follow()
  registration.addEventListener('updatefound', follow)

  let checked = Date.now()
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState !== 'visible' || Date.now() - checked < CHECK_MS) return
    checked = Date.now()
    void registration.update().catch(() => undefined)
  })
}
