import type { Socket } from 'socket.io-client'

/** The content of a tick and an ack. */
export interface ServerMessage {
  status?: number
  tl: number | null
  ends_at: number | null
  server_time: number
}

interface SentPacket {
  event: string
  topic: string
  /** Sends the server's ack; undefined for events without one. */
  answer?: (message: unknown) => void
}

interface LineOptions {
  auth: (send: (data: object) => void) => void
}

type Handler = (...args: unknown[]) => void

/** For tests: a connection with the library's interface, whose server side the test plays. It sends nothing over the network. */
export class FakeLine {
  connected = false
  /** Number of calls of connect, not counting the first one. */
  connects = 0
  disconnects = 0
  sent: SentPacket[] = []
  readonly io = { engine: { close: () => this.drop() } }
  private readonly handlers = new Map<string, Handler>()
  private any: Handler = () => undefined

  readonly options: LineOptions

  constructor(options: LineOptions) {
    this.options = options
  }

  // The app's side.
  on(event: string, handler: Handler): this {
    this.handlers.set(event, handler)
    return this
  }

  onAny(handler: Handler): this {
    this.any = handler
    return this
  }

  timeout(ms: number) {
    return {
      emit: (event: string, topic: string, ack: (silent: Error | null, message?: unknown) => void) => {
        const timer = setTimeout(() => ack(new Error('operation has timed out')), ms)
        const answer = (message: unknown) => {
          clearTimeout(timer)
          ack(null, message)
        }
        this.sent.push({ event, topic, answer })
      },
    }
  }

  emit(event: string, topic: string): this {
    this.sent.push({ event, topic })
    return this
  }

  connect(): this {
    this.connects += 1
    return this
  }

  disconnect(): this {
    this.disconnects += 1
    if (this.connected) this.drop()
    return this
  }

  // The server's side.
  open(): void {
    this.connected = true
    this.fire('connect')
  }

  drop(): void {
    this.connected = false
    this.fire('disconnect')
  }

  refuse(message: string): void {
    this.fire('connect_error', new Error(message))
  }

  says(topic: string, message: unknown): void {
    this.handlers.get(topic)?.(message)
    this.any(topic, message)
  }

  /** The topics of the events of one kind, sent since the last call. */
  take(event: string): string[] {
    const taken = this.sent.filter((one) => one.event === event).map(({ topic }) => topic)
    this.sent = this.sent.filter((one) => one.event !== event)
    return taken
  }

  /** The credentials of the next attempt. */
  get auth(): object | undefined {
    let proof: object | undefined
    this.options.auth((data) => {
      proof = data
    })
    return proof
  }

  private fire(event: string, ...args: unknown[]): void {
    this.handlers.get(event)?.(...args)
  }
}

/** A fake of the library's `io`, and the connections that it has created. */
export function fakeLibrary() {
  const lines: FakeLine[] = []
  const io = (options: LineOptions): Socket => {
    const line = new FakeLine(options)
    lines.push(line)
    return line as unknown as Socket
  }
  return { io, lines }
}
