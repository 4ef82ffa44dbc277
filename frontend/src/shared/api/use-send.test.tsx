import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { act, cleanup, renderHook } from '@testing-library/react'
import type { ReactNode } from 'react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { useToasts } from '@/shared/lib/toast/toast'
import { ApiError } from './error'
import { makeQueryClient } from './query'
import { useSend } from './use-send'

let client: QueryClient
const wrapper = ({ children }: { children: ReactNode }) => (
  <QueryClientProvider client={client}>{children}</QueryClientProvider>
)
const messages = () =>
  useToasts
    .getState()
    .take()
    .map(({ kind, title, body }) => ({ kind, title, body }))

beforeEach(() => {
  client = makeQueryClient()
  messages()
})
afterEach(cleanup)

function open(texts?: (error: ApiError) => { title: string; body?: string }) {
  const answers: { done: (text: string) => void; fail: (error: Error) => void }[] = []
  const send = vi.fn((_text: string) => new Promise<string>((done, fail) => answers.push({ done, fail })))
  const onDone = vi.fn()
  const onFailed = vi.fn()
  const options = { send, onDone, onFailed, ...(texts && { texts }) }
  const { result } = renderHook(() => useSend(options), { wrapper })
  return { answers, send, onDone, onFailed, page: result }
}

it('sends once though it is tapped twice before anything is drawn, and again after the answer', async () => {
  const { answers, send, onDone, page } = open()
  act(() => {
    page.current.submit('a')
    page.current.submit('b')
  })
  await vi.waitFor(() => expect(page.current.pending).toBe(true))
  act(() => page.current.submit('c'))
  expect(send.mock.calls.map(([text]) => text)).toEqual(['a'])
  answers[0]?.done('ok')
  await vi.waitFor(() => expect(page.current.pending).toBe(false))
  expect(onDone.mock.calls[0]?.slice(0, 2)).toEqual(['ok', 'a'])
  act(() => page.current.submit('d'))
  await vi.waitFor(() => expect(send).toHaveBeenCalledTimes(2))
  expect(messages()).toEqual([])
})

it('tells a failure once, in the words of the call where it has some, and then what follows from it', async () => {
  const plain = open()
  act(() => plain.page.current.submit('a'))
  await vi.waitFor(() => expect(plain.answers).toHaveLength(1))
  plain.answers[0]?.fail(new ApiError(409, 'sudah ada'))
  await vi.waitFor(() => expect(plain.onFailed).toHaveBeenCalledOnce())
  expect(plain.onDone).not.toHaveBeenCalled()
  expect(messages()).toEqual([{ kind: 'failure', title: 'sudah ada', body: undefined }])

  const own = open(({ status }) => ({ title: 'Mesin Not found', body: String(status) }))
  act(() => own.page.current.submit('a'))
  await vi.waitFor(() => expect(own.answers).toHaveLength(1))
  own.answers[0]?.fail(new ApiError(404, 'x'))
  await vi.waitFor(() => expect(own.onFailed).toHaveBeenCalledOnce())
  expect(messages()).toEqual([{ kind: 'failure', title: 'Mesin Not found', body: '404' }])
})
