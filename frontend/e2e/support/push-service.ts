import { createDecipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from '@playwright/test'

export interface PushService {
  /** The messages that the server has sent to this browser, decrypted, oldest first. */
  messages: Record<string, unknown>[]
  close: () => Promise<void>
}

/**
 * Replaces the browser's push service, which needs the internet, by one on this machine. It keeps what the server sends and decrypts it
 * (RFC 8188, RFC 8291) with the keys of the browser's one subscription.
 */
export async function withPushServer(page: Page): Promise<PushService> {
  const ecdh = createECDH('prime256v1')
  const p256dh = ecdh.generateKeys()
  const auth = randomBytes(16)
  const messages: Record<string, unknown>[] = []
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      messages.push(JSON.parse(decrypted(Buffer.concat(parts))))
      response.writeHead(201).end()
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))

  function decrypted(body: Buffer): string {
    const salt = body.subarray(0, 16)
    const sender = body.subarray(21, 21 + body.readUInt8(20))
    const info = Buffer.concat([Buffer.from('WebPush: info\0'), p256dh, sender])
    const secret = Buffer.from(hkdfSync('sha256', ecdh.computeSecret(sender), auth, info, 32))
    const key = hkdfSync('sha256', secret, salt, 'Content-Encoding: aes128gcm\0', 16)
    const nonce = hkdfSync('sha256', secret, salt, 'Content-Encoding: nonce\0', 12)
    const sealed = body.subarray(21 + sender.length)
    const decipher = createDecipheriv('aes-128-gcm', Buffer.from(key), Buffer.from(nonce))
    decipher.setAuthTag(sealed.subarray(-16))
    const plain = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()])
    // A 2 ends the only record; zeros may follow.
    return plain.subarray(0, plain.lastIndexOf(2)).toString()
  }

  const { port } = server.address() as AddressInfo
  const endpoint = `http://127.0.0.1:${port}/push/${randomBytes(12).toString('hex')}`
  const keys = { p256dh: p256dh.toString('base64url'), auth: auth.toString('base64url') }
  await withSubscription(page, { endpoint, keys })
  return { messages, close: () => new Promise((done) => server.close(() => done())) }
}

interface BrowserSubscription {
  endpoint: string
  keys: { p256dh: string; auth: string }
}

/** The page's browser hands out this subscription. It keeps the key of the server that it was made with as `test.push`. */
export async function withSubscription(page: Page, subscription: BrowserSubscription): Promise<void> {
  await page.addInitScript((json) => {
    const kept = 'test.push'
    const subscription = {
      endpoint: json.endpoint,
      toJSON: () => json,
      async unsubscribe() {
        localStorage.removeItem(kept)
        return true
      },
    }
    Object.assign(PushManager.prototype, {
      async subscribe({ applicationServerKey }: { applicationServerKey: string }) {
        localStorage.setItem(kept, applicationServerKey)
        return subscription
      },
      getSubscription: async () => (localStorage.getItem(kept) ? subscription : null),
    })
  }, subscription)
}
