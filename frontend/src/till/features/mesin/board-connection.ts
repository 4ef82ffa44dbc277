import type { Socket } from 'socket.io-client'
import { create } from 'zustand'
import { isRecord } from '@/shared/lib/session/storage'
import { learn, tickFits } from '@/shared/realtime/clock'
import { wakeTicker } from '@/shared/realtime/ticker'
import type { Attention, Taken, Tile } from '@/till/api/types'
import { useLive } from '@/till/lib/session/live'
import { entryKey } from '@/till/lib/session/use-attention'
import { type Board, changed, isChange, isLive, isSnapshot, restored } from './board-state'

/** A later answer means that the socket is deaf, although it is open. */
const ANSWER_MS = 4_000
/** Pause between two subscriptions, whatever asks for them. */
const PAUSE_MS = 1_000
/** Interval of the checks whether the picture is still current, and the pause between attempts to renew it. */
const LOOK_MS = 1_000
const RETRY_MS = 5_000

interface BoardView {
  /** The last picture; null before the first one. */
  board: Board | null
  /** Whether the picture is current. */
  live: boolean
  /** The last message without a gap before it: this browser's clock, and the server's. Epoch ms. */
  heard_ms: number | null
  told_ms: number | null
  /** Why the server gives no board. */
  refusal: string | null
}

const NOTHING: BoardView = { board: null, live: false, heard_ms: null, told_ms: null, refusal: null }

export const useBoard = create<BoardView>(() => NOTHING)

/**
 * Keeps the board of an outlet current until the returned function is called. It subscribes on each new socket, after a gap, and when
 * nothing was heard for a while; a socket that does not answer is closed, and the session opens another one.
 */
export function followBoard(idoutlet: number): () => void {
  const topic = `papan/${idoutlet}`
  let socket: Socket | null = null
  let asking = false
  let asked_ms = Number.NEGATIVE_INFINITY
  let timer: ReturnType<typeof setTimeout> | undefined
  useBoard.setState(NOTHING)

  function show(board: Board, server_time: number): void {
    const heard = board.complete && { heard_ms: Date.now(), told_ms: server_time, live: true }
    useBoard.setState({ board, refusal: null, ...heard })
    if (!board.complete) subscribe()
  }

  function onMessage(message: unknown): void {
    const { board } = useBoard.getState()
    if (!board || !isChange(message)) return
    show(changed(board, message), message.server_time)
    // The clock was set, or the message was long on its way: an answer tells the time exactly.
    if (!tickFits(message.server_time)) subscribe()
  }

  function subscribe(): void {
    const line = socket
    if (!line || asking) return
    clearTimeout(timer)
    const sent_ms = Date.now()
    const wait_ms = asked_ms + PAUSE_MS - sent_ms
    if (wait_ms > 0 && wait_ms <= PAUSE_MS) {
      timer = setTimeout(subscribe, wait_ms)
      return
    }
    asking = true
    asked_ms = sent_ms
    line.timeout(ANSWER_MS).emit('subscribe', topic, (error: unknown, answer: unknown) => {
      if (line !== socket) return
      asking = false
      if (error) line.disconnect()
      else if (isSnapshot(answer)) {
        learn(sent_ms, answer.server_time, Date.now())
        wakeTicker()
        show(restored(useBoard.getState().board, answer), answer.server_time)
      } else if (isRecord(answer) && typeof answer.message === 'string') {
        useBoard.setState({ refusal: answer.message })
      }
    })
  }

  function take(next: Socket | null): void {
    if (next === socket) return
    socket?.off(topic, onMessage)
    clearTimeout(timer)
    socket = next
    asking = false
    asked_ms = Number.NEGATIVE_INFINITY
    if (!next) useBoard.setState({ live: false })
    next?.on(topic, onMessage)
    subscribe()
  }

  const look = setInterval(() => {
    if (isLive(useBoard.getState().heard_ms, Date.now())) return
    useBoard.setState({ live: false })
    if (Math.abs(Date.now() - asked_ms) >= RETRY_MS) subscribe()
  }, LOOK_MS)
  const forget = useLive.subscribe((now) => take(now.socket))
  take(useLive.getState().socket)

  return () => {
    forget()
    clearInterval(look)
    clearTimeout(timer)
    socket?.off(topic, onMessage)
    if (socket?.connected) socket.emit('unsubscribe', topic)
    socket = null
    useBoard.setState(NOTHING)
  }
}

/** Shows at once who has taken an entry; the next change of the board says it, too. */
export function showTaken(entry: Attention, ditangani: Taken): void {
  useBoard.setState(({ board }) => {
    if (!board) return {}
    const attention = board.attention.map((one) => (isSameEntry(one, entry) ? { ...one, ditangani } : one))
    return { board: { ...board, attention } }
  })
}

/** Shows at once what a machine's device has answered; the next change of the board says it, too. */
export function showTile(tile: Tile): void {
  useBoard.setState(({ board }) => {
    if (!board) return {}
    const tiles = board.tiles.map((one) => (one.id === tile.id ? tile : one))
    return { board: { ...board, tiles } }
  })
}

const isSameEntry = (one: Attention, other: Attention) => entryKey(one) === entryKey(other)
