import { act, cleanup, renderHook } from '@testing-library/react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type Decode, loadDecoder, reloadDecoder } from './decoder'
import { useDecoder } from './use-decoder'
import { useScanner } from './use-scanner'

vi.mock('./decoder', () => ({ loadDecoder: vi.fn(), reloadDecoder: vi.fn() }))

const nothing: Decode = async () => []
let arrive: (decode: Decode) => void
let fail: (error: Error) => void

beforeEach(() => {
  vi.useFakeTimers()
  vi.mocked(loadDecoder).mockImplementation(
    () =>
      new Promise((done, refuse) => {
        arrive = done
        fail = refuse
      }),
  )
})
afterEach(() => {
  cleanup()
  vi.clearAllMocks()
  vi.useRealTimers()
})

it('says that it loads, that it takes long, and that it is there', async () => {
  const { result } = renderHook(() => useDecoder(true))
  expect(result.current.state).toBe('loading')
  await act(() => vi.advanceTimersByTimeAsync(5_000))
  expect(result.current.state).toBe('slow')
  await act(async () => arrive(nothing))
  expect(result.current).toMatchObject({ state: 'ready', decode: nothing })
  await act(() => vi.advanceTimersByTimeAsync(60_000))
  expect(result.current.state).toBe('ready')
})

it('a failure is tried again when the network comes back, and not by itself', async () => {
  const { result } = renderHook(() => useDecoder(true))
  await act(async () => fail(new Error('no network')))
  expect(result.current).toMatchObject({ state: 'failed', decode: null })
  await act(() => vi.advanceTimersByTimeAsync(600_000))
  expect(loadDecoder).toHaveBeenCalledTimes(1)
  await act(async () => void window.dispatchEvent(new Event('online')))
  expect(result.current.state).toBe('loading')
  await act(async () => arrive(nothing))
  expect(result.current.state).toBe('ready')
})

it('is not fetched for a phone without a camera, until a picture is chosen', async () => {
  const { result } = renderHook(() => useDecoder(false))
  expect(loadDecoder).not.toHaveBeenCalled()
  const loaded = act(() => result.current.load())
  arrive(nothing)
  expect(await loaded).toBe(nothing)
})

it('one that fails at every look is given up: no look follows', async () => {
  const read = vi.fn<Decode>().mockRejectedValue(new Error('broken'))
  const onBroken = vi.fn()
  const video = { current: document.createElement('video') }
  renderHook(() => useScanner({ video, decode: read, onTexts: () => undefined, onBroken }))
  await act(() => vi.advanceTimersByTimeAsync(60_000))
  expect(onBroken).toHaveBeenCalledTimes(1)
  expect(read).toHaveBeenCalledTimes(10)
  const { result } = renderHook(() => useDecoder(true))
  await act(async () => arrive(read))
  act(() => result.current.giveUp())
  expect(result.current).toMatchObject({ state: 'failed', decode: null })
  expect(reloadDecoder).toHaveBeenCalledTimes(1)
})

it('a look that fails now and then is none of that', async () => {
  let looks = 0
  const read: Decode = async () => {
    if (++looks % 5) throw new Error('no picture yet')
    return []
  }
  const onBroken = vi.fn()
  const video = { current: document.createElement('video') }
  renderHook(() => useScanner({ video, decode: read, onTexts: () => undefined, onBroken }))
  await act(() => vi.advanceTimersByTimeAsync(10_000))
  expect(looks).toBeGreaterThan(20)
  expect(onBroken).not.toHaveBeenCalled()
})
