import type { Page } from '@playwright/test'

/** What a page finds instead of the phone around it. Serialised: it knows nothing but its argument. */
export interface Props {
  now: number
  local: Record<string, string>
  session: Record<string, string>
  /**
   * A picture for the camera; null: there is none; `refused`: the customer lets nobody use it; `busy`: another app does;
   * `insecure`: the address allows none.
   */
  camera: string | null
  /** A wait of the app's for so many ms is over at once; null: none is. */
  hurried: number | null
  /** A new version of the app waits to be taken. */
  update: boolean
  /** What comes of wanting to be told when a wash is over. */
  push: 'allowed' | 'refused' | 'homeScreenFirst'
}

/**
 * Time stands still: every clock says the same, and what would happen by itself later than two seconds from now never
 * does, so that no message goes and nothing is asked again while it is looked at.
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
    // A stream has a frame for each time that its canvas was drawn.
    setInterval(() => canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height), 50)
    return canvas.captureStream()
  }
}

/** From now on it is so much later; nothing that would have come meanwhile has come. */
export const later = (page: Page, ms: number) =>
  page.evaluate((passed) => {
    const then = Date.now() + passed
    Date.now = () => then
  }, ms)
