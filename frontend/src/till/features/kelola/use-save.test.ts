import { act, cleanup, renderHook } from '@testing-library/react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ApiError, NO_NETWORK } from '@/shared/api/error'
import { useSave } from './use-save'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  cleanup()
  vi.useRealTimers()
})

const lost = new ApiError(NO_NETWORK, '')

/** A form whose calls get these answers, the last one repeatedly; null is a success. */
function form(answers: (ApiError | null)[], openKey?: string) {
  const keys: string[] = []
  const send = async (key: string) => {
    keys.push(key)
    const answer = answers[Math.min(keys.length, answers.length) - 1]
    if (answer) throw answer
  }
  const onDone = vi.fn()
  const onKey = vi.fn()
  const { result } = renderHook(() => useSave<void>({ openKey, onKey, onDone }))
  const run = async (act_: () => void) => {
    await act(async () => act_())
    await act(() => vi.advanceTimersByTimeAsync(60_000))
  }
  return {
    keys,
    onDone,
    onKey,
    now: () => result.current,
    save: () => run(() => result.current.save(send)),
    again: () => run(() => result.current.again(send)),
  }
}

it('a lost answer is asked for again by the same key', async () => {
  const { save, keys, onDone, onKey, now } = form([lost, lost, null])
  await save()
  expect(onDone).toHaveBeenCalledTimes(1)
  expect(keys).toHaveLength(3)
  expect(new Set(keys).size).toBe(1)
  expect(onKey.mock.calls).toEqual([[keys[0]], [undefined]])
  expect(now()).toMatchObject({ open: false, fault: '' })
})

it('without an answer the form stays open, and only the same is sent again', async () => {
  const { save, again, keys, onDone, onKey, now } = form([lost, lost, lost, lost, null])
  await save()
  expect(now().open).toBe(true)
  expect(now().fault).toContain('belum menjawab')
  expect(onKey).toHaveBeenCalledTimes(1)
  await again()
  expect(onDone).toHaveBeenCalledTimes(1)
  expect(new Set(keys).size).toBe(1)
})

it('goes on with a key from before a reload', async () => {
  const { again, keys, now } = form([null], 'k1')
  expect(now().open).toBe(true)
  await again()
  expect(keys).toEqual(['k1'])
})

it('a refusal is shown, and the next attempt has another key', async () => {
  const { save, keys, onDone, now } = form([new ApiError(422, 'jam harga bertumpuk'), null])
  await save()
  expect(now()).toMatchObject({ open: false, fault: 'Jam harga bertumpuk' })
  await save()
  expect(new Set(keys).size).toBe(2)
  expect(onDone).toHaveBeenCalledTimes(1)
})
