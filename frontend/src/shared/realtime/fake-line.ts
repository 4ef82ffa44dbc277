import type { Socket } from 'socket.io-client'

/** What a tick and an ack say. */
export interface Said {
  status?: number
  tl: number | null
  ends_at: number | null
  server_time: number
}

interface Sent {
  event: string
  topic: string
  /** The server's ack; none for what asks for none. */
  answer?: (said: unknown) => void
}

interface Options {
  auth: (send: (data: object) => void) => void
}

type Handler = (...args: unknown[]) => void

/** For tests: a connection as the library gives it, with the server's side in hand. It sends nothing anywhere. */
export class FakeLine {
  connected = false
  /** How often it was told to connect, beside the first time. */
  connects = 0
  disconnects = 0
  sent: Sent[] = []
  readonly io = { engine: { close: () => this.drop() } }
  private readonly handlers = new Map<string, Handler>()
  private any: Handler = () => undefined

  readonly options: Options

  constructor(options: Options) {
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
      emit: (event: string, topic: string, ack: (silent: Error | null, said?: unknown) => void) => {
        const timer = setTimeout(() => ack(new Error('operation has timed out')), ms)
        const answer = (said: unknown) => {
          clearTimeout(timer)
          ack(null, said)
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

  /** What was sent of one kind since it was last looked at: its topics. */
  take(event: string): string[] {
    const taken = this.sent.filter((one) => one.event === event).map(({ topic }) => topic)
    this.sent = this.sent.filter((one) => one.event !== event)
    return taken
  }

  /** What is proven with at the next try. */
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

/** `io` of the library, and the lines that it has given. */
export function fakeLibrary() {
  const lines: FakeLine[] = []
  const io = (options: Options): Socket => {
    const line = new FakeLine(options)
    lines.push(line)
    return line as unknown as Socket
  }
  return { io, lines }
}
