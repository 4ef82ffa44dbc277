import { act, cleanup, render, screen } from '@testing-library/react'
import { MemoryRouter, Route, Routes, useNavigate } from 'react-router'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'

beforeEach(() => {
  vi.resetModules()
  vi.useFakeTimers()
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => undefined }))
})

afterEach(() => {
  cleanup()
  vi.doUnmock('@/shared/ui/toaster')
  vi.useRealTimers()
})

const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms))
const settle = () => act(() => vi.dynamicImportSettled())

function Screen() {
  const navigate = useNavigate()
  return (
    <button type="button" onClick={() => navigate('/dashboard')}>
      Lanjut
    </button>
  )
}

/** Two screens, with the messages beside them as in the app. */
async function open() {
  const { toast } = await import('@/shared/lib/toast/toast')
  const { ToastHost } = await import('./toast-host')
  render(
    <MemoryRouter initialEntries={['/otp']}>
      <Routes>
        <Route path="/otp" element={<Screen />} />
        <Route path="/dashboard" element={<h1>Beranda</h1>} />
      </Routes>
      <ToastHost />
    </MemoryRouter>,
  )
  return toast
}

const region = () => document.querySelector('[aria-label^=Pemberitahuan]')

it('a message outlives the screen that told it, for its time', async () => {
  const toast = await open()
  await settle()
  expect(region()).toBeNull()
  act(() => toast.success('Registrasi Berhasil'))
  act(() => screen.getByRole('button').click())
  await settle()
  await pass(500)
  expect(screen.getByRole('heading').textContent).toBe('Beranda')
  expect(screen.getByText('Registrasi Berhasil')).toBeTruthy()
  expect(region()).not.toBeNull()
  await pass(5_000)
  await pass(1_000)
  expect(screen.queryByText('Registrasi Berhasil')).toBeNull()
})

it('is told plainly where the toaster cannot be fetched, the newest alone', async () => {
  // React logs an error that the boundary has caught.
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  vi.doMock('@/shared/ui/toaster', () => {
    throw new TypeError('Failed to fetch dynamically imported module')
  })
  const toast = await open()
  act(() => toast.failure('Mesin Not found', 'Pindai lagi'))
  await settle()
  await pass(0)
  expect(screen.getByRole('alert').textContent).toBe('Mesin Not foundPindai lagi')
  act(() => toast.failure('Sistem sedang bermasalah'))
  await pass(0)
  expect(screen.getByRole('alert').textContent).toBe('Sistem sedang bermasalah')
})
