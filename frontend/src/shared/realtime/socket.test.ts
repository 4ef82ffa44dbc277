import { afterEach, expect, it, vi } from 'vitest'
import { useBeats } from './beats'
import { openRealtime, watchBalances } from './socket'

const hooks = { token: () => 'a.b.c', onRefused: () => Promise.resolve() }
const io = vi.fn(() => ({ on: vi.fn(), onAny: vi.fn(), disconnect: vi.fn() }))

afterEach(() => vi.doUnmock('socket.io-client'))

it('a library that cannot be fetched is no unhandled rejection, and the next wake tries again', async () => {
  const tried = vi.fn()
  vi.doMock('socket.io-client', () => {
    tried()
    throw new TypeError('Failed to fetch dynamically imported module')
  })
  const close = openRealtime(hooks)
  await vi.waitFor(() => expect(useBeats.getState().connection).toBe('down'))
  for (const again of [2, 3]) {
    window.dispatchEvent(new Event('online'))
    await vi.waitFor(() => expect(tried).toHaveBeenCalledTimes(again))
  }
  // An unhandled rejection, told after the microtasks are through, fails the whole run.
  await new Promise((done) => setTimeout(done))

  vi.doMock('socket.io-client', () => ({ io }))
  window.dispatchEvent(new Event('online'))
  await vi.waitFor(() => expect(io).toHaveBeenCalledTimes(1))
  close()
})

it('is connected once, though the phone wakes while the library is on its way', async () => {
  io.mockClear()
  vi.doMock('socket.io-client', () => ({ io }))
  const close = openRealtime(hooks)
  window.dispatchEvent(new Event('online'))
  window.dispatchEvent(new Event('pageshow'))
  await vi.waitFor(() => expect(io).toHaveBeenCalled())
  await new Promise((done) => setTimeout(done))
  expect(io).toHaveBeenCalledTimes(1)
  close()
})

it('tells of moved balances until nobody listens, and ignores what is none', async () => {
  const on = vi.fn()
  vi.doMock('socket.io-client', () => ({ io: () => ({ on, onAny: vi.fn(), disconnect: vi.fn() }) }))
  const hear = vi.fn()
  const leave = watchBalances(hear)
  const close = openRealtime(hooks)
  await vi.waitFor(() => expect(on).toHaveBeenCalledWith('saldo', expect.any(Function)))
  const emit: (message?: unknown) => void = on.mock.calls.find(([event]) => event === 'saldo')?.[1]

  const news = { idcustomer: 7, saldo: 85_000, sebab: 'topup' }
  const { idcustomer, saldo } = news
  for (const odd of [
    undefined,
    null,
    'saldo',
    [news],
    { idcustomer, saldo },
    { ...news, sebab: 'hadiah' },
    { ...news, saldo: '85000' },
    { ...news, saldo: Number.NaN },
    { ...news, idcustomer: null },
  ])
    emit(odd)
  expect(hear).not.toHaveBeenCalled()
  emit(news)
  emit({ ...news, saldo: 0, sebab: 'batal' })
  expect(hear.mock.calls).toEqual([[news], [{ ...news, saldo: 0, sebab: 'batal' }]])
  leave()
  emit(news)
  expect(hear).toHaveBeenCalledTimes(2)
  close()
})
