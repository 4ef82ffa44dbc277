import { act, render, screen } from '@testing-library/react'
import { expect, it } from 'vitest'
import { OfflineBanner } from '@/app/offline-banner'
import { ApiError, OVERLOADED } from '@/shared/api/error'
import { copy } from '@/shared/copy/copy'
import { whileOverloaded } from '@/shared/lib/net/until-admitted'

it('says while calls wait that the server is overloaded', async () => {
  render(<OfflineBanner />)
  expect(screen.queryByText(copy.common.overloaded)).toBeNull()
  let end = () => {}
  const wait = () =>
    new Promise<void>((resolve) => {
      end = resolve
    })
  let waiting = Promise.resolve()
  act(() => {
    waiting = whileOverloaded(new ApiError(503, OVERLOADED, 1_000), wait)
  })
  expect(screen.getByRole('status').textContent).toBe(copy.common.overloaded)
  await act(async () => {
    end()
    await waiting
  })
  expect(screen.queryByText(copy.common.overloaded)).toBeNull()
})
