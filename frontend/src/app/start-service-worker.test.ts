import { afterEach, beforeEach, expect, it, vi } from 'vitest'

const NOW = Date.parse('2026-11-20T10:00:00Z')
const MINUTE = 60_000

/** A service worker that is active or being installed. */
class Worker extends EventTarget {
  postMessage = vi.fn()
}

class FakeRegistration extends EventTarget {
  waiting: Worker | null = null
  installing: Worker | null = null
  update = vi.fn(async () => undefined)

  /** A new version is being fetched, and then installed. */
  find(): Worker {
    const worker = new Worker()
    this.installing = worker
    this.dispatchEvent(new Event('updatefound'))
    this.installing = null
    this.waiting = worker
    worker.dispatchEvent(new Event('statechange'))
    return worker
  }
}

let registration: FakeRegistration
let container: EventTarget & { controller: Worker | null; register: ReturnType<typeof vi.fn> }
const reload = vi.fn()

/** Starts as a newly loaded page does, with or without a service worker that controls it. */
async function start(controller: Worker | null) {
  vi.resetModules()
  registration = new FakeRegistration()
  container = Object.assign(new EventTarget(), { controller, register: vi.fn(async () => registration) })
  vi.stubGlobal('navigator', { serviceWorker: container })
  const { startServiceWorker } = await import('./start-service-worker')
  const { useUpdate } = await import('./update')
  await startServiceWorker()
  return { again: startServiceWorker, apply: () => useUpdate.getState().apply }
}

const change = () => container.dispatchEvent(new Event('controllerchange'))

beforeEach(() => {
  vi.useFakeTimers({ now: NOW })
  vi.stubEnv('PROD', true)
  vi.stubGlobal('location', { ...window.location, reload })
  reload.mockClear()
})

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
})

it('registers once a page, past the browser’s own cache', async () => {
  const { again } = await start(null)
  await again()
  expect(container.register.mock.calls).toEqual([['/sw.js', { updateViaCache: 'none' }]])
})

it('registers nothing while the app is being developed', async () => {
  vi.stubEnv('PROD', false)
  await start(null)
  expect(container.register).not.toHaveBeenCalled()
})

it('the first one ever offers nothing, when it comes and when it takes over', async () => {
  const { apply } = await start(null)
  registration.find()
  expect(apply()).toBeNull()
  change()
  expect(apply()).toBeNull()
})

it('a new version is offered when it is there; taken, it takes over and the page is loaded once it has', async () => {
  const { apply } = await start(new Worker())
  expect(apply()).toBeNull()
  const worker = registration.find()
  expect(worker.postMessage).not.toHaveBeenCalled()
  apply()?.()
  expect(worker.postMessage).toHaveBeenCalledWith({ type: 'SKIP_WAITING' })
  expect(reload).not.toHaveBeenCalled()
  change()
  expect(reload).toHaveBeenCalledOnce()
})

it('one that takes 3 s to take over is not waited for', async () => {
  const { apply } = await start(new Worker())
  registration.find()
  apply()?.()
  vi.advanceTimersByTime(2_999)
  expect(reload).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(reload).toHaveBeenCalledOnce()
})

it('a version that another tab took is offered, too, as a mere reload', async () => {
  const { apply } = await start(new Worker())
  change()
  expect(reload).not.toHaveBeenCalled()
  apply()?.()
  expect(reload).toHaveBeenCalledOnce()
})

it('a page that is looked at again asks for a new version, every quarter of an hour at most', async () => {
  await start(new Worker())
  const look = () => document.dispatchEvent(new Event('visibilitychange'))
  vi.setSystemTime(NOW + 15 * MINUTE - 1)
  look()
  expect(registration.update).not.toHaveBeenCalled()
  vi.setSystemTime(NOW + 15 * MINUTE)
  look()
  look()
  expect(registration.update).toHaveBeenCalledOnce()
})

it('a service worker that cannot be registered is no failure', async () => {
  vi.resetModules()
  const register = vi.fn(async () => Promise.reject(new TypeError('no network')))
  vi.stubGlobal('navigator', {
    serviceWorker: Object.assign(new EventTarget(), { controller: null, register }),
  })
  const { startServiceWorker } = await import('./start-service-worker')
  await expect(startServiceWorker()).resolves.toBeUndefined()
  expect(register).toHaveBeenCalledOnce()
})
