import type { Browser } from '@playwright/test'

/**
 * A page that only these calls touch. Playwright's own pages enable the inspector's Runtime domain, so that V8 reads a whole script again
 * for the lines of each Error object (React makes some as it starts). They also compile the code that looks for elements. Both cause long
 * tasks that no customer's phone has.
 */
export interface BarePage {
  send: <T>(method: string, params?: object) => Promise<T>
  /** The value of an expression, as JSON carries it. */
  ask: <T>(expression: string) => Promise<T>
  goto: (url: string) => Promise<void>
  close: () => Promise<void>
}

interface Message {
  id: number
  result?: unknown
  error?: { message: string }
}

export async function openBarePage(browser: Browser): Promise<BarePage> {
  const session = await browser.newBrowserCDPSession()
  const { browserContextId } = await session.send('Target.createBrowserContext')
  const { targetId } = await session.send('Target.createTarget', { url: 'about:blank', browserContextId })
  const { sessionId } = await session.send('Target.attachToTarget', { targetId, flatten: false })

  const waiting = new Map<number, (message: Message) => void>()
  session.on('Target.receivedMessageFromTarget', ({ message }) => {
    const answer = JSON.parse(message) as Message
    waiting.get(answer.id)?.(answer)
    waiting.delete(answer.id)
  })
  let count = 0
  async function send<T>(method: string, params: object = {}): Promise<T> {
    const id = ++count
    const answer = new Promise<Message>((done) => waiting.set(id, done))
    await session.send('Target.sendMessageToTarget', {
      sessionId,
      message: JSON.stringify({ id, method, params }),
    })
    const { result, error } = await answer
    if (error) throw new Error(`${method}: ${error.message}`)
    return result as T
  }

  async function ask<T>(expression: string): Promise<T> {
    const { result } = await send<{ result: { value: T } }>('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    })
    return result.value
  }

  return {
    send,
    ask,
    goto: async (url) => void (await send('Page.navigate', { url })),
    async close() {
      await session.send('Target.disposeBrowserContext', { browserContextId })
      await session.detach()
    },
  }
}
