import { afterEach, beforeEach, expect, it, vi } from 'vitest'

/** Loads the module with an empty cache; `file`: how the layer's file loads. */
async function load(file: () => Promise<void>) {
  vi.resetModules()
  vi.doMock('./paid-layer', async () => {
    await file()
    return { default: () => null }
  })
  return (await import('./paid')).paidLayerThere
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it('the layer can be shown once its file is there', async () => {
  const there = await load(async () => undefined)
  expect(await there()).toBe(true)
})

it('not where the file cannot be fetched', async () => {
  const there = await load(() => Promise.reject(new TypeError('Failed to fetch')))
  expect(await there()).toBe(false)
})

it('nor where it does not come within a second', async () => {
  const ask = await load(() => new Promise(() => undefined))
  const there = vi.fn()
  void ask().then(there)
  await vi.advanceTimersByTimeAsync(999)
  expect(there).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(there).toHaveBeenCalledWith(false)
})
