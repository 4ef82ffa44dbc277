import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { holdLine } from './hold-line'

/** Longer than the longest pause, and shorter than two of them. */
const PAUSE_MS = 40_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A server whose connections behave as the test requires. */
function server() {
  const lines: { ticket: string; up: () => void; down: () => void; hangUp: () => void }[] = []
  let count = 0
  const ticket = vi.fn(() => {
    count += 1
    return Promise.resolve(`t${count}`)
  })
  const onChange = vi.fn()
  const line = holdLine({
    ticket,
    dial(ticket, on) {
      const hangUp = vi.fn()
      lines.push({ ticket, ...on, hangUp })
      return Promise.resolve(hangUp)
    },
    onChange,
  })
  const last = () => lines[lines.length - 1] as (typeof lines)[number]
  return { lines, last, ticket, onChange, ...line }
}

/** Advances over the first pause, which is the shortest. */
const soon = () => vi.advanceTimersByTimeAsync(400)

it('a line that held is asked about soon, with a new ticket', async () => {
  const { lines, last, onChange } = server()
  await soon()
  last().up()
  expect(onChange.mock.calls).toEqual([[true]])
  vi.advanceTimersByTime(5_000)
  last().down()
  await soon()
  expect(lines.map(({ ticket }) => ticket)).toEqual(['t1', 't2'])
  expect(onChange.mock.calls).toEqual([[true], [false]])
})

it('a line that is taken and dropped again and again is dialled seldom', async () => {
  const { lines, last } = server()
  await soon()
  for (let round = 0; round < 100; round += 1) {
    last().up()
    last().down()
    await vi.advanceTimersByTimeAsync(PAUSE_MS)
  }
  expect(lines.length).toBe(101)
  last().down()
  await vi.advanceTimersByTimeAsync(29_000)
  expect(lines.length).toBe(101)
})

it('without a ticket nothing is dialled, and the tries come ever less often', async () => {
  const { lines, ticket, onChange } = server()
  ticket.mockImplementation(() => Promise.reject(new Error('no line')))
  await vi.advanceTimersByTimeAsync(10 * 60_000)
  expect(lines).toEqual([])
  expect(onChange).toHaveBeenLastCalledWith(false)
  expect(ticket.mock.calls.length).toBeGreaterThan(15)
  expect(ticket.mock.calls.length).toBeLessThan(30)
})

it('whoever wakes waits for no pause, and dials no second line', async () => {
  const { lines, ticket, wake, last } = server()
  ticket.mockImplementationOnce(() => Promise.reject(new Error('no line')))
  await soon()
  expect(lines.length).toBe(0)
  wake()
  wake()
  await soon()
  expect(lines.length).toBe(1)
  last().up()
  wake()
  await vi.advanceTimersByTimeAsync(PAUSE_MS)
  expect(lines.length).toBe(1)
})

it('hangs up when it is stopped, also a line that opens later', async () => {
  const early = server()
  await soon()
  early.last().up()
  early.stop()
  expect(early.last().hangUp).toHaveBeenCalledOnce()
  early.last().down()

  const late = server()
  vi.advanceTimersByTime(400)
  late.stop()
  await vi.advanceTimersByTimeAsync(PAUSE_MS)
  expect(late.last().hangUp).toHaveBeenCalledOnce()
  expect([early.lines.length, late.lines.length]).toEqual([1, 1])
  expect(early.onChange.mock.calls).toEqual([[true]])
})
