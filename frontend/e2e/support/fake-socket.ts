import type { Page, Route } from '@playwright/test'

/** Engine.IO 4 over polling: this character separates the packets of one answer. */
const APART = '\x1e'
/** The poll is answered after this time, before the phone would give up; the phone then polls again. */
const IDLE_MS = 10_000
const OPEN = `0${JSON.stringify({ sid: 'e2e', upgrades: [], pingInterval: 600_000, pingTimeout: 600_000, maxPayload: 1_000_000 })}`
const JOINED = '40{"sid":"e2e"}'
const NOOP = '6'

export interface FakeSocket {
  /** Sends an event from the server to the phone; one that is not connected yet gets it once it is. */
  emit: (event: string, message: unknown) => void
  /** Breaks the connection for good. */
  cut: () => Promise<void>
}

/**
 * A fake Socket.IO server that accepts every connection and sends only what the test emits; everything else is the real server's. Call it
 * before the page is opened. `onSubscribe` returns the acknowledgement of a subscription; without it the server sends none.
 */
export async function fakeSocket(page: Page, onSubscribe?: (topic: string) => unknown): Promise<FakeSocket> {
  let packets: string[] = []
  /** Events for a phone that is not connected. */
  const waiting: string[] = []
  let connected = false
  let asking: Route | null = null

  function send(...more: string[]): void {
    packets.push(...more)
    if (!asking) return
    const route = asking
    asking = null
    const body = packets.join(APART)
    packets = []
    // A page that was left no longer waits for the answer.
    route.fulfill({ contentType: 'text/plain; charset=UTF-8', body }).catch(() => undefined)
  }

  function receive(packet: string): void {
    if (packet.startsWith('40')) {
      connected = true
      send(JOINED, ...waiting.splice(0))
    }
    const [, id, topic] = /^42(\d+)\["subscribe","([^"]+)"\]$/.exec(packet) ?? []
    if (id && topic && onSubscribe) send(`43${id}${JSON.stringify([onSubscribe(topic)])}`)
  }

  await page.route('**/socket.io/**', async (route) => {
    const request = route.request()
    const opened = new URL(request.url()).searchParams.has('sid')
    if (request.method() === 'POST') {
      await route.fulfill({ contentType: 'text/html', body: 'ok' })
      for (const packet of request.postData()?.split(APART) ?? []) receive(packet)
    } else if (!opened) {
      packets = []
      connected = false
      // A poll of the page that was left gets no answer of this connection.
      asking = null
      await route.fulfill({ contentType: 'text/plain; charset=UTF-8', body: OPEN })
    } else {
      asking = route
      if (packets.length > 0) send()
      else setTimeout(() => asking === route && send(NOOP), IDLE_MS).unref()
    }
  })
  return {
    emit(event, message) {
      const packet = `42${JSON.stringify([event, message])}`
      if (connected) send(packet)
      else waiting.push(packet)
    },
    async cut() {
      await page.route('**/socket.io/**', (route) => route.abort())
      await asking?.abort()
      asking = null
    },
  }
}
