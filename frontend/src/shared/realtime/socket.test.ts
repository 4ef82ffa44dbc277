import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { lastOf } from '@/shared/lib/text/last-of'
import { serverNow } from './clock'
import { type FakeLine, fakeLibrary, type ServerMessage } from './fake-line'
import { openRealtime, watchBalances, watchBoard, watchMachine } from './socket'
import { forgetTicks, putTick, useTicks } from './ticks'

const NOW = 1_800_000_000_000

const library = vi.hoisted(() => ({ io: undefined as unknown, fetched: 0, comes: true }))
vi.mock('./library', () => ({
  OPEN_TIMEOUT_MS: 8_000,
  socketLibrary: async () => {
    library.fetched += 1
    if (!library.comes) throw new TypeError('Failed to fetch dynamically imported module')
    return { io: library.io }
  },
}))

let lines: FakeLine[] = []
/** Cleanup functions of what a test has opened and watches. */
let open: (() => void)[] = []
let token: string | null = 'a.b.c'
const onRefused = vi.fn(async () => undefined)

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)
const wake = (event = 'online') => window.dispatchEvent(new Event(event))

function watch(id: number): () => void {
  const leave = watchMachine(id)
  open.push(leave)
  return () => {
    open = open.filter((one) => one !== leave)
    leave()
  }
}

/** Opens the app's connection; returns the newest one, which the server has not accepted yet. */
async function dial(): Promise<{ line: FakeLine; close: () => void }> {
  const close = openRealtime({ token: () => token, onRefused })
  open.push(close)
  await pass(0)
  return { line: lastOf(lines) as FakeLine, close }
}

async function connected(): Promise<{ line: FakeLine; close: () => void }> {
  const dialled = await dial()
  dialled.line.open()
  return dialled
}

/** A cycle with this many seconds left, as the server reports it now. */
const running = (left_s: number): ServerMessage => ({
  tl: left_s * 1_000,
  ends_at: Date.now() + left_s * 1_000,
  server_time: Date.now(),
})
const acked = (message: ServerMessage): ServerMessage => ({ ...message, status: 200 })

/** Acknowledges every pending `subscribe`. */
function ackAll(line: FakeLine, message: ServerMessage): void {
  for (const { event, answer } of line.sent) if (event === 'subscribe') answer?.(acked(message))
}

const tickOf = (id: number) => useTicks.getState().ticks[id]
const connection = () => useTicks.getState().connection

beforeEach(() => {
  vi.useFakeTimers({ now: NOW })
  const fake = fakeLibrary()
  library.io = fake.io
  library.fetched = 0
  library.comes = true
  lines = fake.lines
  token = 'a.b.c'
  onRefused.mockReset().mockImplementation(async () => undefined)
})

afterEach(async () => {
  for (const end of open.reverse()) end()
  open = []
  // Two resyncs are at least a second apart, whatever triggers them.
  await pass(1_000)
  forgetTicks()
  localStorage.clear()
  vi.restoreAllMocks()
  vi.useRealTimers()
})

describe('connecting', () => {
  it('says how the line is, and proves who it is with the token of that moment', async () => {
    const { line } = await dial()
    expect(connection()).toBe('connecting')
    expect(line.auth).toEqual({ token: 'a.b.c' })
    line.open()
    expect(connection()).toBe('up')
    line.drop()
    expect(connection()).toBe('down')
    // A password change has replaced the token in the meantime.
    token = 'x.y.z'
    expect(line.auth).toEqual({ token: 'x.y.z' })
    line.open()
    expect(connection()).toBe('up')
  })

  it('a refused token: one real call decides, then it is tried again, not at once', async () => {
    let decided: () => void = () => undefined
    onRefused.mockImplementation(() => new Promise((done) => (decided = () => done(undefined))))
    const { line } = await dial()
    line.refuse('unauthorized')
    expect(connection()).toBe('down')
    await pass(60_000)
    expect(onRefused).toHaveBeenCalledOnce()
    expect(line.connects).toBe(0)
    decided()
    await pass(4_999)
    expect(line.connects).toBe(0)
    await pass(1)
    expect(line.connects).toBe(1)
  })

  it('a session that is over by then is not tried again', async () => {
    const { line, close } = await dial()
    line.refuse('unauthorized')
    close()
    await pass(10_000)
    expect(line.connects).toBe(0)
  })

  it('a library that cannot be fetched is no unhandled rejection, and each wake tries again', async () => {
    library.comes = false
    await dial()
    expect(connection()).toBe('down')
    for (const again of [2, 3]) {
      wake()
      await pass(0)
      expect(library.fetched).toBe(again)
    }
    library.comes = true
    wake()
    await pass(0)
    expect(lines).toHaveLength(1)
  })

  it('is one line, though the phone wakes while the library is on its way', async () => {
    const dialled = dial()
    wake()
    wake('pageshow')
    await dialled
    expect(lines).toHaveLength(1)
  })

  it('any other failure is the library’s to mend', async () => {
    const { line } = await dial()
    line.refuse('xhr poll error')
    await pass(60_000)
    expect(connection()).toBe('down')
    expect(onRefused).not.toHaveBeenCalled()
    expect(line.connects).toBe(0)
  })
})

describe('watching', () => {
  it('a machine is asked about once, however many watch, and left with the last of them', async () => {
    const first = watch(7)
    const { line } = await connected()
    expect(line.take('subscribe')).toEqual(['heartbeat/7'])
    const second = watch(7)
    const other = watch(8)
    expect(line.take('subscribe')).toEqual(['heartbeat/8'])
    first()
    expect(line.take('unsubscribe')).toEqual([])
    second()
    other()
    expect(line.take('unsubscribe')).toEqual(['heartbeat/7', 'heartbeat/8'])
    watch(7)
    expect(line.take('subscribe')).toEqual(['heartbeat/7'])
  })

  it('whoever watches before the line stands, or leaves while it is down, is counted too', async () => {
    const { line } = await dial()
    const leave = watch(7)
    watch(8)
    expect(line.sent).toEqual([])
    line.open()
    expect(line.take('subscribe')).toEqual(['heartbeat/7', 'heartbeat/8'])
    line.drop()
    leave()
    watch(9)
    expect(line.sent.filter(({ event }) => event === 'unsubscribe')).toEqual([])
    line.take('subscribe')
    line.open()
    expect(line.take('subscribe')).toEqual(['heartbeat/8', 'heartbeat/9'])
  })

  it('the ack says all at once: a run, none, or that it is over', async () => {
    for (const id of [7, 8]) watch(id)
    const { line } = await connected()
    const [seven, eight] = line.sent
    seven?.answer?.(acked(running(90)))
    expect(tickOf(7)).toEqual({ ends_at: NOW + 90_000, over: false })
    eight?.answer?.({ status: 200, tl: null, ends_at: null, server_time: NOW })
    expect(tickOf(8)).toEqual({ ends_at: null, over: true })
  })

  it('an ack that refuses, or is none, says nothing of the machine', async () => {
    watch(7)
    const { line } = await connected()
    for (const odd of [undefined, null, 'ok', { ...running(9), status: 404 }, { status: 200, tl: 1 }]) {
      line.sent[0]?.answer?.(odd)
      expect(tickOf(7)).toBeUndefined()
    }
  })

  it('what is kept of an earlier run says nothing about this one', async () => {
    putTick('7', { ends_at: NOW - 1_000, over: true })
    putTick('8', { ends_at: NOW + 1_000, over: false })
    watch(7)
    watch(8)
    expect(tickOf(7)).toBeUndefined()
    expect(tickOf(8)?.ends_at).toBe(NOW + 1_000)
  })
})

describe('ticks', () => {
  it('reach the machine that they are of, and none that nobody watches', async () => {
    watch(7)
    watch(77)
    const { line } = await connected()
    line.says('heartbeat/77', running(20))
    expect(tickOf(7)).toBeUndefined()
    expect(tickOf(77)?.ends_at).toBe(NOW + 20_000)
    line.says('heartbeat/9', running(20))
    expect(tickOf(9)).toBeUndefined()
  })

  it('the last one ends the run, whatever topic or shape stands beside it', async () => {
    watch(7)
    const { line } = await connected()
    line.says('heartbeat/7', running(1))
    expect(tickOf(7)?.over).toBe(false)
    for (const odd of [null, 'tick', { tl: 0 }, { tl: 0, ends_at: NOW, server_time: 'now' }]) {
      line.says('heartbeat/7', odd)
    }
    line.says('saldo', running(0))
    line.says('something/7', running(0))
    expect(tickOf(7)?.over).toBe(false)
    line.says('heartbeat/7', { tl: 0, ends_at: NOW + 1_000, server_time: NOW })
    expect(tickOf(7)).toEqual({ ends_at: NOW + 1_000, over: true })
  })

  it('one that was long on its way moves no clock: the server is asked, once a second, and its answer counts', async () => {
    watch(7)
    const { line } = await connected()
    ackAll(line, running(90))
    line.take('subscribe')
    await pass(10_000)
    // A tick from before the cycle that is shown.
    const late = { tl: 1_000, ends_at: NOW + 6_000, server_time: NOW + 5_000 }
    line.says('heartbeat/7', late)
    line.says('heartbeat/7', late)
    expect(serverNow()).toBe(NOW + 10_000)
    ackAll(line, running(80))
    expect(tickOf(7)).toEqual({ ends_at: NOW + 90_000, over: false })
    expect(line.take('subscribe')).toEqual(['heartbeat/7'])
    await pass(1_000)
    line.says('heartbeat/7', late)
    expect(line.take('subscribe')).toEqual(['heartbeat/7'])
    await pass(1_000)
    line.says('heartbeat/7', running(78))
    expect(line.take('subscribe')).toEqual([])
  })

  it('an ack of a line that is gone is not taken for news of the next one', async () => {
    watch(7)
    const { line, close } = await connected()
    const [asked] = line.sent
    close()
    const next = await connected()
    ackAll(next.line, running(30))
    asked?.answer?.(acked(running(600)))
    expect(tickOf(7)?.ends_at).toBe(NOW + 30_000)
  })
})

describe('a line that is not what it seems', () => {
  it('is asked after six quiet seconds while a run is shown, and given up when it does not answer', async () => {
    watch(7)
    const { line } = await connected()
    ackAll(line, running(600))
    line.take('subscribe')
    await pass(12_000)
    expect(line.take('subscribe').length).toBeGreaterThan(0)
    expect(line.connected).toBe(true)
    await pass(4_000)
    expect(line.connected).toBe(false)
    expect(connection()).toBe('down')
    // The library reconnects automatically, and the app subscribes to everything again.
    line.open()
    expect(line.take('subscribe')).toEqual(['heartbeat/7'])
  })

  it.each([
    ['ticks come', 600, 'visible'],
    ['nothing runs', null, 'visible'],
    ['nobody looks', 600, 'hidden'],
  ] as const)('is left alone while %s', async (why, left_s, seen) => {
    watch(7)
    const { line } = await connected()
    ackAll(line, left_s === null ? { tl: null, ends_at: null, server_time: NOW } : running(left_s))
    line.take('subscribe')
    vi.spyOn(document, 'visibilityState', 'get').mockReturnValue(seen)
    for (let second = 1; second <= 20; second++) {
      await pass(1_000)
      if (why === 'ticks come') line.says('heartbeat/7', running(600 - second))
    }
    expect(line.take('subscribe')).toEqual([])
  })

  it('is asked when the page is seen again; one that is down is tried at once', async () => {
    watch(7)
    const { line } = await connected()
    ackAll(line, running(600))
    line.take('subscribe')
    wake('pageshow')
    wake('visibilitychange')
    expect(line.take('subscribe')).toEqual(['heartbeat/7'])
    line.drop()
    await pass(1_000)
    wake()
    expect(line.connects).toBe(1)
    vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden')
    await pass(1_000)
    wake('visibilitychange')
    expect(line.connects).toBe(1)
  })
})

it('closing ends it: nothing is asked, tried or timed any more, and the next one is another line', async () => {
  watch(7)
  const { line, close } = await connected()
  ackAll(line, running(600))
  line.take('subscribe')
  close()
  expect(line.disconnects).toBe(1)
  await pass(1_000)
  expect(vi.getTimerCount()).toBe(0)
  for (const event of ['online', 'pageshow', 'visibilitychange']) wake(event)
  await pass(60_000)
  expect(line.sent).toEqual([])
  expect(lines).toHaveLength(1)
  expect(library.fetched).toBe(1)

  const next = await connected()
  expect(lines).toHaveLength(2)
  expect(next.line.take('subscribe')).toEqual(['heartbeat/7'])
})

it('tells of moved balances until nobody listens, and ignores what is none', async () => {
  const listener = vi.fn()
  const leave = watchBalances(listener)
  open.push(leave)
  const { line } = await connected()
  const change = { idcustomer: 7, saldo: 85_000, sebab: 'topup' }
  const { idcustomer, saldo } = change
  for (const odd of [
    undefined,
    null,
    'saldo',
    [change],
    { idcustomer, saldo },
    { ...change, sebab: 'hadiah' },
    { ...change, saldo: '85000' },
    { ...change, saldo: Number.NaN },
    { ...change, idcustomer: null },
  ])
    line.says('saldo', odd)
  expect(listener).not.toHaveBeenCalled()
  line.says('saldo', change)
  line.says('saldo', { ...change, saldo: 0, sebab: 'batal' })
  expect(listener.mock.calls).toEqual([[change], [{ ...change, saldo: 0, sebab: 'batal' }]])
  leave()
  line.says('saldo', change)
  expect(listener).toHaveBeenCalledTimes(2)
})

describe('an outlet’s machines', () => {
  const snapshot = { status: 200, versi: 1, server_time: NOW }

  function watchOutlet() {
    const messages: unknown[] = []
    const board = watchBoard('outlet/7', (message) => messages.push(message))
    open.push(board.stop)
    return { messages, ...board }
  }
  const answer = (line: FakeLine) => line.sent.find(({ event }) => event === 'subscribe')?.answer?.(snapshot)

  it('come with the answer and then with each message of their topic', async () => {
    const { line } = await connected()
    const { messages, stop } = watchOutlet()
    answer(line)
    const change = { versi: 2, server_time: NOW }
    line.says('outlet/7', change)
    line.says('outlet/8', change)
    expect(messages).toEqual([snapshot, change])
    stop()
    expect(line.take('unsubscribe')).toEqual(['outlet/7'])
    line.says('outlet/7', change)
    expect(messages).toHaveLength(2)
  })

  it('are asked for on every connection, when the phone wakes, and when the page misses something', async () => {
    const { line } = await dial()
    const { again } = watchOutlet()
    expect(line.take('subscribe')).toEqual([])
    line.open()
    expect(line.take('subscribe')).toEqual(['outlet/7'])
    again()
    wake()
    expect(line.take('subscribe')).toEqual(['outlet/7', 'outlet/7'])
    line.drop()
    again()
    expect(line.take('subscribe')).toEqual([])
    line.open()
    expect(line.take('subscribe')).toEqual(['outlet/7'])
  })

  it('a silent subscription means that the line is dead', async () => {
    const { line } = await connected()
    watchOutlet()
    await pass(4_000)
    expect(line.connected).toBe(false)
  })
})
