import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { DOUBLE_TAP } from '@/shared/lib/page/last-tap'
import { showAfterReload, toast, useToasts } from './toast'

const onClick = vi.fn()
const button = document.createElement('button')
button.addEventListener('click', onClick)
const tap = () =>
  button.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, detail: 1 }))

beforeEach(() => {
  vi.useFakeTimers()
  onClick.mockClear()
  document.body.append(button)
})

afterEach(() => {
  vi.runAllTimers()
  vi.useRealTimers()
  button.remove()
})

it('a message of the page before is read in this one, which hears no second tap that meant that page', () => {
  toast.tellAfterReload({ kind: 'success', title: 'Nama Berhasil Di Ubah' })
  showAfterReload()
  expect(useToasts.getState().take()).toMatchObject([{ kind: 'success', title: 'Nama Berhasil Di Ubah' }])
  tap()
  expect(onClick).not.toHaveBeenCalled()
  vi.advanceTimersByTime(DOUBLE_TAP.within)
  tap()
  expect(onClick).toHaveBeenCalledOnce()
})

it('without one there is nothing to say, and taps are heard', () => {
  showAfterReload()
  expect(useToasts.getState().take()).toEqual([])
  tap()
  expect(onClick).toHaveBeenCalledOnce()
})
