import { useUpdate } from '@/app/update'

/** A page that becomes visible again checks for a new version at most this often. */
const CHECK_MS = 15 * 60_000

/** Time limit for the new version to take control; after it the page reloads anyway. */
const CHANGE_OVER_MS = 3_000

const reload = () => window.location.reload()
let started = false

/**
 * Starts to serve this app without network, and to watch for new versions. Once per page. (workbox-window would miss a version that was
 * being installed when the page loaded, and every one after the first.)
 */
export async function startServiceWorker(): Promise<void> {
  if (started || !import.meta.env.PROD || !('serviceWorker' in navigator)) return
  started = true
  const { serviceWorker } = navigator
  followChange(serviceWorker)
  try {
    const registration = await serviceWorker.register('/sw.js', { updateViaCache: 'none' })
    followUpdates(registration, serviceWorker)
  } catch {
    // Without a service worker (private mode, no network) everything works except the start without network.
  }
}

/** Handles another tab's activation of the new version: this tab's code is old, and its remaining files are gone. */
function followChange(serviceWorker: ServiceWorkerContainer): void {
  // The first service worker ever does not change the version.
  let controlled = serviceWorker.controller !== null
  serviceWorker.addEventListener('controllerchange', () => {
    if (controlled) useUpdate.setState({ apply: reload })
    controlled = true
  })
}

function followUpdates(registration: ServiceWorkerRegistration, serviceWorker: ServiceWorkerContainer): void {
  const offer = () => {
    const { waiting } = registration
    if (!waiting || !serviceWorker.controller) return
    useUpdate.setState({
      apply() {
        serviceWorker.addEventListener('controllerchange', reload, { once: true })
        // A browser that is slow to change over does so during the reload.
        setTimeout(reload, CHANGE_OVER_MS)
        waiting.postMessage({ type: 'SKIP_WAITING' })
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
