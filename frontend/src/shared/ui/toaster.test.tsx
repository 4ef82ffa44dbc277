import { act, cleanup, render, screen } from '@testing-library/react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { toast } from '@/shared/lib/toast/toast'
import { raise } from '@/shared/lib/toast/toast-layer'
import Toaster from './toaster'

/** A time longer than a message's exit, and shorter than its display. */
const EXIT_MS = 1_000
const STEP_MS = 20

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => undefined }))
  render(<Toaster />)
})

afterEach(async () => {
  await act(() => vi.advanceTimersByTimeAsync(10_000))
  cleanup()
  vi.useRealTimers()
})

/** Advances in small steps, because React renders only after each. */
async function pass(ms: number): Promise<void> {
  for (let left = ms; left >= 0; left -= STEP_MS) {
    await act(() => vi.advanceTimersByTimeAsync(Math.min(left, STEP_MS)))
  }
}

/** A failed attempt of the customer, answered after `answer_ms`. */
async function fail(title: string, answer_ms: number, body?: string): Promise<void> {
  act(() => toast.newTry())
  await pass(answer_ms)
  act(() => toast.failure(title, body))
}

it.each([0, 50, 150, 250, 400])('the same failure again after %i ms is told again', async (ms) => {
  await fail('password is incorrect', 0, 'Periksa lagi')
  await pass(EXIT_MS)
  for (let again = 0; again < 2; again++) {
    await fail('password is incorrect', ms, 'Periksa lagi')
    await pass(EXIT_MS)
    expect(screen.getAllByText('password is incorrect')).toHaveLength(1)
    expect(screen.getAllByText('Periksa lagi')).toHaveLength(1)
    expect(screen.getByText('password is incorrect').closest('li')?.dataset.removed).toBe('false')
  }
})

it('each message is in the page once, the old one not even while it leaves', async () => {
  await fail('Field masih kosong', 0)
  await pass(EXIT_MS)
  await fail('Field masih kosong', 50)
  for (let ms = 0; ms < 600; ms += 20) {
    await pass(20)
    expect(screen.queryAllByText('Field masih kosong').length).toBeLessThanOrEqual(1)
  }
  expect(screen.getByText('Field masih kosong')).toBeTruthy()
})

it('a new try takes the failure of the one before away, and nothing else', async () => {
  act(() => toast.success('Get Layanan Success'))
  await fail('Mesin Not found', 0)
  await pass(EXIT_MS)
  act(() => toast.success('Get Layanan Success'))
  act(() => toast.newTry())
  await pass(EXIT_MS)
  expect(screen.queryByText('Mesin Not found')).toBeNull()
  expect(screen.getByText('Get Layanan Success')).toBeTruthy()
})

it('two failures are both readable', async () => {
  await fail('Tidak dapat terhubung', 0)
  act(() => toast.failure('Sistem sedang bermasalah'))
  await pass(EXIT_MS)
  for (const title of ['Tidak dapat terhubung', 'Sistem sedang bermasalah']) {
    const item = screen.getByText(title).closest('li')
    expect(item?.dataset).toMatchObject({ removed: 'false', visible: 'true', expanded: 'true' })
  }
})

it('a failure that the customer never saw is not told after the next try began', async () => {
  act(() => {
    toast.failure('Mesin Not found')
    toast.newTry()
  })
  await pass(EXIT_MS)
  expect(screen.queryByText('Mesin Not found')).toBeNull()
})

/** The visible messages, from the newest to the oldest. */
const readable = () =>
  [
    ...document.querySelectorAll<HTMLElement>('[data-sonner-toast][data-removed=false][data-visible=true]'),
  ].map((one) => one.querySelector('[data-title]')?.textContent)
const shownMessage = (title: string) => screen.getByText(title).closest('li') as HTMLElement

it('the newest comes first, three at once', async () => {
  for (const title of ['satu', 'dua', 'tiga', 'empat']) {
    act(() => toast.failure(title))
    await pass(500)
  }
  expect(readable()).toEqual(['empat', 'tiga', 'dua'])
  act(() => {
    for (const title of ['lima', 'enam']) toast.failure(title)
  })
  await pass(EXIT_MS)
  expect(readable()).toEqual(['enam', 'lima', 'empat'])
})

it('good news goes before a failure, which stays long enough to be read', async () => {
  act(() => toast.success('Registrasi Berhasil'))
  act(() => toast.failure('Sistem sedang bermasalah', 'Coba lagi sebentar lagi.'))
  act(() => toast.info('Sesi Anda berakhir'))
  await pass(2_000)
  expect(readable()).toEqual(['Sesi Anda berakhir', 'Sistem sedang bermasalah', 'Registrasi Berhasil'])
  await pass(3_000)
  expect(readable()).toEqual(['Sesi Anda berakhir', 'Sistem sedang bermasalah'])
  await pass(2_000)
  expect(readable()).toEqual([])
})

it('the same message with another body says only the newer one', async () => {
  act(() => toast.info('mesin belum menjawab', 'Mesin 07'))
  await pass(EXIT_MS)
  act(() => toast.info('mesin belum menjawab', ['Mesin 08', 'Lihat keadaan mesinnya di Beranda.']))
  await pass(EXIT_MS)
  expect(readable()).toEqual(['mesin belum menjawab'])
  expect(screen.queryByText('Mesin 07')).toBeNull()
  expect(screen.getByText('Mesin 08')).toBeTruthy()
})

/** Downwards, to the edge that messages come from, px. */
const AWAY = 80

/** Puts a finger on a message; the returned functions continue the gesture. */
function touch(title: string) {
  const node = shownMessage(title)
  // The library captures the pointer for the rest of the gesture, which this DOM does not support.
  node.setPointerCapture = () => undefined
  const finger = (y: number) => ({ bubbles: true, button: 0, clientX: 100, clientY: 100 + y, pointerId: 1 })
  act(() => void node.dispatchEvent(new PointerEvent('pointerdown', finger(0))))
  return {
    move: (y: number) => act(() => void node.dispatchEvent(new PointerEvent('pointermove', finger(y)))),
    lift: () => act(() => void node.dispatchEvent(new PointerEvent('pointerup', finger(0)))),
  }
}

it('a finger on it holds it, and lets it go', async () => {
  act(() => toast.success('Nama Berhasil Di Ubah'))
  await pass(EXIT_MS)
  const finger = touch('Nama Berhasil Di Ubah')
  await pass(10_000)
  expect(readable()).toEqual(['Nama Berhasil Di Ubah'])
  finger.lift()
  await pass(5_000)
  expect(readable()).toEqual([])
})

it('is swiped away towards its edge, and not away from it', async () => {
  act(() => toast.failure('Mesin Not found'))
  act(() => toast.failure('Sistem sedang bermasalah'))
  await pass(EXIT_MS)
  const wrong = touch('Mesin Not found')
  wrong.move(-AWAY)
  wrong.lift()
  await pass(200)
  expect(readable()).toEqual(['Sistem sedang bermasalah', 'Mesin Not found'])
  const right = touch('Mesin Not found')
  right.move(AWAY / 2)
  right.move(AWAY)
  right.lift()
  await pass(200)
  expect(readable()).toEqual(['Sistem sedang bermasalah'])
})

it('is in sight of the topmost dialog, and back on the page when that has closed', async () => {
  const [sheet, question] = ['dialog', 'dialog'].map((tag) =>
    document.body.appendChild(document.createElement(tag)),
  ) as [HTMLElement, HTMLElement]
  act(() => toast.failure('Mesin Not found'))
  await pass(EXIT_MS)
  const node = shownMessage('Mesin Not found')
  expect(node.closest('dialog')).toBeNull()
  const lower = raise(sheet)
  expect(node.closest('dialog')).toBe(sheet)
  const lowerQuestion = raise(question)
  expect(node.closest('dialog')).toBe(question)
  // The dialogs may close in any order.
  lower()
  expect(node.closest('dialog')).toBe(question)
  lowerQuestion()
  expect(node.closest('dialog')).toBeNull()
  expect(document.body.contains(node)).toBe(true)
  expect(readable()).toEqual(['Mesin Not found'])
  for (const one of [sheet, question]) one.remove()
})
