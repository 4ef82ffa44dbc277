import type { Socket } from 'socket.io-client'
import { isRecord } from '@/shared/lib/session/storage'
import { type BalanceChange, isBalanceChange } from '@/shared/realtime/balance-change'
import { learn, tickFits } from '@/shared/realtime/clock'
import { OPEN_TIMEOUT_MS, socketLibrary } from '@/shared/realtime/library'
import { wakeTicker } from '@/shared/realtime/ticker'
import { dropOver, putTick, useTicks } from '@/shared/realtime/ticks'

/** A later ack means that the connection is dead, even without a close event. */
const ACK_TIMEOUT_MS = 4_000
/** Ticks arrive once a second; after this silence the connection is tested. */
const SILENCE_MS = 6_000

const REFUSED_PAUSE_MS = 5_000

interface Hooks {
  token: () => string | null
  /** Called when the server refuses the token; resolves when it is certain whether the session is over. */
  onRefused: () => Promise<unknown>
}

interface TickMessage {
  status?: number
  tl: number | null
  ends_at: number | null
  server_time: number
}

const isTickMessage = (value: unknown): value is TickMessage =>
  isRecord(value) && typeof value.server_time === 'number'

const topicOf = (idmesin: string) => `heartbeat/${idmesin}`

/** Number of cards that watch each machine. It survives the socket, which may open later or again. */
const watched = new Map<string, number>()
const listeners = new Set<(change: BalanceChange) => void>()
/** Listeners of topics with a snapshot and changes, such as an outlet's machines. */
const boards = new Map<string, (message: unknown) => void>()
let socket: Socket | null = null
let generation = 0
let lastMessage_ms = 0
let asking = false

/** The app's side of the realtime connection. Incoming reports go to `useTicks` and to the listeners for balances. */
export function openRealtime(hooks: Hooks): () => void {
  const mine = ++generation
  const open = () => {
    socketLibrary().then(
      ({ io }) => {
        if (mine === generation && !socket) connect(io, hooks)
      },
      () => {
        // The library could not be fetched: countdowns continue from their deadlines, and the next wake retries.
        if (mine === generation && !socket) useTicks.setState({ connection: 'down' })
      },
    )
  }
  open()

  const onWake = () => {
    if (document.visibilityState !== 'visible' || mine !== generation) return
    if (socket) resync()
    else open()
  }
  for (const event of ['visibilitychange', 'pageshow', 'online']) window.addEventListener(event, onWake)
  const silence = setInterval(() => {
    const expectsTicks = [...watched.keys()].some((id) => useTicks.getState().ticks[id]?.ends_at)
    if (!expectsTicks || document.visibilityState !== 'visible') return
    if (socket?.connected && Date.now() - lastMessage_ms > SILENCE_MS) resync()
  }, SILENCE_MS)

  return () => {
    generation++
    clearInterval(silence)
    for (const event of ['visibilitychange', 'pageshow', 'online']) window.removeEventListener(event, onWake)
    socket?.disconnect()
    socket = null
  }
}

function connect(io: typeof import('socket.io-client').io, hooks: Hooks): void {
  const line = io({
    auth: (send) => send({ token: hooks.token() }),
    reconnectionDelay: 500,
    reconnectionDelayMax: 4_000,
    timeout: OPEN_TIMEOUT_MS,
  })
  socket = line
  line.on('connect', () => {
    useTicks.setState({ connection: 'up' })
    lastMessage_ms = Date.now()
    subscribeAll(line)
  })
  line.on('disconnect', () => useTicks.setState({ connection: 'down' }))
  line.on('connect_error', (error) => {
    useTicks.setState({ connection: 'down' })
    // After this error the library does not reconnect automatically.
    if (error.message === 'unauthorized') {
      void hooks.onRefused().then(() => setTimeout(() => line === socket && line.connect(), REFUSED_PAUSE_MS))
    }
  })
  line.on('saldo', (message: unknown) => {
    if (isBalanceChange(message)) for (const listener of listeners) listener(message)
  })
  line.onAny((topic: string, message: unknown) => {
    if (topic.startsWith('heartbeat/') && isTickMessage(message))
      onTick(topic.slice('heartbeat/'.length), message)
    else boards.get(topic)?.(message)
  })
}

function onTick(idmesin: string, tick: TickMessage): void {
  lastMessage_ms = Date.now()
  if (!tickFits(tick.server_time)) resync()
  if (watched.has(idmesin)) putTick(idmesin, { ends_at: tick.ends_at, over: tick.tl !== null && tick.tl < 1 })
}

/** The ack is a full snapshot, so that it is correct after any absence. */
function subscribe(line: Socket, idmesin: string): void {
  const sent_ms = Date.now()
  line
    .timeout(ACK_TIMEOUT_MS)
    .emit('subscribe', topicOf(idmesin), (silent: Error | null, answer: unknown) => {
      if (line !== socket) return
      if (silent) return revive(line)
      if (!isTickMessage(answer) || answer.status !== 200) return
      lastMessage_ms = Date.now()
      learn(sent_ms, answer.server_time, lastMessage_ms)
      putTick(idmesin, { ends_at: answer.ends_at, over: answer.tl === null })
      wakeTicker()
    })
}

function subscribeBoard(line: Socket, topic: string): void {
  line.timeout(ACK_TIMEOUT_MS).emit('subscribe', topic, (silent: Error | null, answer: unknown) => {
    if (line !== socket) return
    if (silent) revive(line)
    else boards.get(topic)?.(answer)
  })
}

function subscribeAll(line: Socket): void {
  for (const idmesin of watched.keys()) subscribe(line, idmesin)
  for (const topic of boards.keys()) subscribeBoard(line, topic)
}

/** Without an ack in time the connection is dead. Closing the engine makes the library reconnect. */
function revive(line: Socket): void {
  if (line.connected) line.io.engine.close()
}

/** After sleep, a network change or silence: subscribes to everything again, or connects at once if the connection is down. */
function resync(): void {
  if (!socket || asking) return
  asking = true
  setTimeout(() => {
    asking = false
  }, 1_000)
  if (socket.connected) {
    subscribeAll(socket)
  } else {
    // Skips the rest of the library's pause between two attempts.
    socket.disconnect().connect()
  }
}

/** Listens to a machine's ticks until the returned function is called. */
export function watchMachine(id: number | string): () => void {
  const idmesin = String(id)
  const count = watched.get(idmesin) ?? 0
  watched.set(idmesin, count + 1)
  // Data of an earlier cycle is not valid for this one.
  if (count === 0) dropOver(idmesin)
  if (count === 0 && socket?.connected) subscribe(socket, idmesin)
  return () => {
    const left = (watched.get(idmesin) ?? 1) - 1
    if (left > 0) {
      watched.set(idmesin, left)
      return
    }
    watched.delete(idmesin)
    if (socket?.connected) socket.emit('unsubscribe', topicOf(idmesin))
  }
}

/** Listens to balances that staff moved until the returned function is called. */
export function watchBalances(listener: (change: BalanceChange) => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Gives a topic's snapshots and changes to the listener until `stop`. `again` asks for a snapshot, which fills a gap. */
export function watchBoard(topic: string, listener: (message: unknown) => void) {
  const again = () => {
    if (socket?.connected) subscribeBoard(socket, topic)
  }
  boards.set(topic, listener)
  again()
  return {
    again,
    stop() {
      boards.delete(topic)
      if (socket?.connected) socket.emit('unsubscribe', topic)
    },
  }
}
