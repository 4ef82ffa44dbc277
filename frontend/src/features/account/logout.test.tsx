import { cleanup, render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { useAuth } from '@/shared/lib/session/auth-store'
import { Logout } from './logout'

const replace = vi.fn()
const fetch = vi.fn<(request: Request) => Promise<Response>>()

beforeEach(() => {
  vi.clearAllMocks()
  vi.stubGlobal('fetch', fetch)
  vi.stubGlobal('location', { href: window.location.href, origin: window.location.origin, replace })
  useAuth.getState().signIn('a.b.c')
})

afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

async function logOut() {
  render(<Logout />)
  await userEvent.click(screen.getByRole('button'))
}

it('tells the server, outlives the page, and does not wait for the answer', async () => {
  fetch.mockReturnValue(new Promise(() => undefined))
  await logOut()
  expect(replace).toHaveBeenCalledWith('/')
  expect(useAuth.getState().token).toBeNull()
  expect(fetch).toHaveBeenCalledTimes(1)
  const request = fetch.mock.calls[0]?.[0]
  expect(request?.method).toBe('POST')
  expect(new URL(request?.url ?? '').pathname).toBe('/scan/v1/auth/logout')
  expect(request?.headers.get('authorization')).toBe('Bearer a.b.c')
  expect(request?.keepalive).toBe(true)
})

it('a server that cannot be reached is no failure of logging out', async () => {
  fetch.mockRejectedValue(new TypeError('Failed to fetch'))
  await logOut()
  expect(replace).toHaveBeenCalledWith('/')
  expect(useAuth.getState().token).toBeNull()
})

it('a token that stays on the phone is not ended', async () => {
  const { signOut } = useAuth.getState()
  useAuth.setState({ signOut: () => false })
  await logOut()
  useAuth.setState({ signOut })
  expect(replace).not.toHaveBeenCalled()
  expect(useAuth.getState().token).toBe('a.b.c')
  expect(fetch).not.toHaveBeenCalled()
})

it('asks first while something runs or waits, and leaves only for a second tap', async () => {
  fetch.mockReturnValue(new Promise(() => undefined))
  render(<Logout isBusy={async () => true} />)
  await userEvent.click(screen.getByRole('button'))
  const dialog = await screen.findByRole('dialog')
  expect(useAuth.getState().token).toBe('a.b.c')
  await userEvent.click(within(dialog).getByRole('button', { name: 'Keluar Aplikasi' }))
  expect(useAuth.getState().token).toBeNull()
})
