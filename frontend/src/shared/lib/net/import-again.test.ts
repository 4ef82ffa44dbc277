import { expect, it, vi } from 'vitest'
import { importAgain } from './import-again'

const failure = (text: string) => Promise.reject(new TypeError(text))
const named = `Failed to fetch dynamically imported module: ${window.location.origin}/assets/esm-a1.js`

it('asks by the same address until that has failed, then by others', async () => {
  const load = vi.fn(() => failure(named))
  const from = vi.fn((address: string) =>
    address.endsWith('again=2') ? Promise.resolve('io') : failure(address),
  )
  const get = importAgain<string>(load, from)
  await expect(get()).rejects.toThrow()
  await expect(get()).rejects.toThrow()
  await expect(get()).resolves.toBe('io')
  expect(load).toHaveBeenCalledOnce()
  const address = `${window.location.origin}/assets/esm-a1.js`
  expect(from.mock.calls).toEqual([[`${address}?again=1`], [`${address}?again=2`]])
})

it('asks as before where the browser names no address, or one of somebody else', async () => {
  for (const text of ['Importing a module script failed.', 'Failed: https://elsewhere.example/a.js']) {
    const load = vi.fn().mockRejectedValueOnce(new TypeError(text)).mockResolvedValueOnce('io')
    const get = importAgain<string>(load)
    await expect(get()).rejects.toThrow()
    await expect(get()).resolves.toBe('io')
  }
})
