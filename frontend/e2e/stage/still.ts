import type { Page } from '@playwright/test'

/** The environment that a page finds instead of a real phone. The function is serialised, so it sees nothing but its argument. */
export interface Props {
  now: number
  local: Record<string, string>
  session: Record<string, string>
  /**
   * A picture for the camera. null: no camera; `refused`: the customer allows no camera; `busy`: another app uses it; `insecure`: the
   * page's address allows none.
   */
  camera: string | null
  /** A timeout of the app of exactly this many ms ends at once; null: no timeout does. */
  hurried: number | null
  /** A new version of the app waits to be activated. */
  update: boolean
  /** Result of the request for notifications about the end of a wash. */
  push: 'allowed' | 'refused' | 'homeScreenFirst'
}

/**
 * Stops the time: every clock shows the same moment, and a timer longer than two seconds never fires. So no message disappears and no
 * request is repeated while a screen is inspected.
 */
export function standStill({ now, local, session, camera, hurried, update, push }: Props): void {
  const LONGEST_MS = 2_000
  const NEVER_MS = 2 ** 31 - 1
  const RealDate = Date
  window.Date = class extends RealDate {
    constructor(...given: [number]) {
      if (given.length > 0) super(...given)
      else super(window.Date.now())
    }
    static override now = () => now
  } as DateConstructor
  const { setTimeout, setInterval } = window
  const soon = (ms = 0) => {
    if (ms === hurried) return 0
    return ms > LONGEST_MS ? NEVER_MS : ms
  }
  window.setTimeout = ((run: () => void, ms?: number, ...more: unknown[]) =>
    setTimeout(run, soon(ms), ...more)) as typeof window.setTimeout
  window.setInterval = ((run: () => void, ms?: number, ...more: unknown[]) =>
    setInterval(run, soon(ms), ...more)) as typeof window.setInterval

  for (const [key, value] of Object.entries(local)) localStorage.setItem(key, value)
  for (const [key, value] of Object.entries(session)) sessionStorage.setItem(key, value)

  const quiet = { addEventListener: () => undefined, removeEventListener: () => undefined }
  const worker = { ...quiet, scriptURL: `${location.origin}/sw.js`, state: 'installed' }
  const registration = {
    ...quiet,
    waiting: update ? worker : null,
    pushManager: {
      getSubscription: async () => null,
      subscribe: async () => ({ toJSON: () => ({ endpoint: 'https://push.example/1' }) }),
    },
  }
  const serviceWorker = {
    ...quiet,
    controller: worker,
    ready: Promise.resolve(registration),
    register: async () => registration,
    getRegistration: async () => registration,
  }
  Object.defineProperty(navigator, 'serviceWorker', { value: serviceWorker })
  Object.defineProperty(Notification, 'permission', { value: push === 'refused' ? 'denied' : 'default' })
  Notification.requestPermission = async () => 'granted'
  if (push === 'homeScreenFirst') {
    Reflect.deleteProperty(window, 'PushManager')
    Object.defineProperty(navigator, 'standalone', { value: false })
  }

  if (camera === 'insecure') Object.defineProperty(window, 'isSecureContext', { value: false })
  navigator.mediaDevices.getUserMedia = async () => {
    if (camera === null) throw new DOMException('', 'NotFoundError')
    if (camera === 'refused') throw new DOMException('', 'NotAllowedError')
    if (camera === 'busy') throw new DOMException('', 'NotReadableError')
    const picture = new Image()
    picture.src = camera
    await picture.decode()
    const canvas = document.createElement('canvas')
    canvas.width = 480
    canvas.height = 640
    // A captured stream gets a frame only when its canvas is drawn.
    setInterval(() => canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height), 50)
    return canvas.captureStream()
  }
}

/** Moves the clock forward; the timers that would have fired in that time do not fire. */
export const later = (page: Page, ms: number) =>
  page.evaluate((passed) => {
    const then = Date.now() + passed
    Date.now = () => then
  }, ms)
