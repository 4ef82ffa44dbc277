import { useUpdate } from '@/app/update'

/** At most this often a page that is looked at again asks for a new version. */
const CHECK_MS = 15 * 60_000

/** How long the new version may take to take over before the page is loaded anew all the same. */
const CHANGE_OVER_MS = 3_000

const reload = () => window.location.reload()
let started = false

/**
 * Begins to serve this app without network, and to watch for new versions. Once a page. (workbox-window would miss one that
 * was being installed when the page came, and every one after the first.)
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
    // Without it (private mode, no network) everything works but the start without network.
  }
}

/** Another tab took the new version: what this one has loaded is old, and the rest of it is gone. */
function followChange(serviceWorker: ServiceWorkerContainer): void {
  // The first service worker ever changes no version.
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
        // A browser that is slow to change over does so while the page is loaded anew.
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
