import type { BrowserContext, Page } from '@playwright/test'
import { type Customer, newCustomer, newWorld, ops, sold, type World } from './api.ts'
import { readQr } from './qr.ts'
import { expect, openAs } from './test.ts'

export const TABLET = { width: 1024, height: 600 }
export const PIN = { rina: '246810', hadi: '135791', tono: '864203', sari: '271828' }

interface Hired {
  id: number
  pin_awal: string
}

const STAFF = ['rina', 'tono', 'hadi'] as const
type Staff = (typeof STAFF)[number]

export interface Shop {
  page: Page
  /** The server's address for the tablet. */
  url: string
  world: World
  idoutlet: number
  /** The tablet's id. */
  idperangkat: number
  rina: Hired
  tono: Hired
  hadi: Hired
  /** Who has chosen a PIN by a call. */
  chosen: Set<Staff>
}

interface ShopOptions {
  /** The server's address for the tablet. */
  url?: string
  outlet?: string
  device?: string
  names?: { rina: string; tono: string; hadi: string }
  services?: Parameters<typeof newWorld>[0]
}

export const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })

/** An outlet with its staff, and the code that pairs a tablet with it. */
async function newShop(page: Page, options: ShopOptions): Promise<{ shop: Shop; kode: string }> {
  const { url = process.env.NYALA_URL ?? '', outlet, device = 'Tablet depan', services = [] } = options
  const { names = { rina: 'Rina', tono: 'Tono', hadi: 'Hadi' } } = options
  const world = await newWorld(services, outlet)
  const { idoutlet } = world
  const hire = (nama: string, role: string) => ops<Hired>('petugas', { nama, role, idoutlet })
  const rina = await hire(names.rina, 'kasir')
  const tono = await hire(names.tono, 'kasir')
  const hadi = await hire(names.hadi, 'supervisor')
  const place = { nama: device, idoutlet }
  const { id: idperangkat, kode } = await ops<{ id: number; kode: string }>('perangkat', place)
  return { shop: { page, url, world, idoutlet, idperangkat, rina, tono, hadi, chosen: new Set() }, kode }
}

/** An outlet with its staff, and a tablet that is paired by the link. */
export async function openShop(page: Page, options: ShopOptions = {}): Promise<Shop> {
  const { shop, kode } = await newShop(page, options)
  await page.goto(`${shop.url}/kasir/pasang#${kode}`)
  await expect(page.getByText('Siapa yang bertugas?')).toBeVisible()
  await expect(page).not.toHaveURL(/#/)
  return shop
}

/** The same without the screens: the tablet's page is not open yet. Only the supervisor has a PIN by now. */
export async function readyShop(page: Page, options: ShopOptions = {}): Promise<Shop> {
  const { shop, kode } = await newShop(page, options)
  await callAt(page, 'pasang', { kode })
  await choosePins(shop, 'hadi')
  return shop
}

/** Sends a call as the tablet, outside its page, with the same cookie. */
export async function callAt<T>(page: Page, path: string, data: unknown, token?: string): Promise<T> {
  const headers = {
    'idempotency-key': crypto.randomUUID(),
    ...(token && { authorization: `Bearer ${token}` }),
  }
  const answer = await page.request.post(`${process.env.NYALA_URL}/ops/v1/${path}`, { data, headers })
  const {
    status,
    message,
    data: found,
  } = (await answer.json()) as {
    status: number
    message: string
    data: T
  }
  if (status !== 200) throw new Error(`${path}: ${status} ${message}`)
  return found
}

/** Lets these members of staff choose a PIN; all of them, if none is named. A PIN costs two slow password hashes. */
export async function choosePins(shop: Shop, ...who: Staff[]): Promise<void> {
  for (const one of who.length > 0 ? who : STAFF) {
    const { token } = await sessionOf(shop, one)
    await callAt(shop.page, 'keluar', undefined, token)
  }
}

export interface Session {
  token: string
  petugas: unknown
}

/** A session at the tablet, outside its page; the first one chooses the PIN. */
export function sessionOf(shop: Shop, who: Staff): Promise<Session> {
  const { id: idpetugas, pin_awal } = shop[who]
  const pins = shop.chosen.has(who) ? { pin: PIN[who] } : { pin: pin_awal, pin_baru: PIN[who] }
  shop.chosen.add(who)
  return callAt(shop.page, 'masuk', { idpetugas, ...pins })
}

/** Opens a screen of the till in a session. */
async function openIn(page: Page, session: Session, address: string): Promise<void> {
  const login = await page.addInitScript(({ token, petugas }) => {
    sessionStorage.setItem('nyala.kasir.session', JSON.stringify({ token, petugas }))
  }, session)
  await page.goto(address)
  await login.dispose()
}

/** Opens a screen of the till as this member of staff, without a shift of their own. */
export async function enter(shop: Shop, who: Staff, path = '/kasir'): Promise<void> {
  await openIn(shop.page, await sessionOf(shop, who), shop.url + path)
}

/** The token of the member of staff who is logged in at the till. */
export const tokenOf = (page: Page): Promise<string> =>
  page.evaluate(() => JSON.parse(sessionStorage.getItem('nyala.kasir.session') ?? '{}').token)

/** Logs in a member of staff who has a PIN. */
export async function logIn(page: Page, name: string | RegExp, pin: string): Promise<void> {
  await page.getByRole('button', { name }).click()
  await page.keyboard.type(pin)
}

/** Opens the pages of an owner, Sari, in a browser of her own. */
export async function openAsOwner(
  page: Page,
  idowner: number,
  url = process.env.NYALA_URL ?? '',
): Promise<void> {
  const sari = await ops<Hired>('petugas', { nama: 'Sari', role: 'owner', idowner })
  const { kode } = await ops<{ kode: string }>('perangkat', { nama: 'HP Sari', idpetugas: sari.id })
  await page.context().clearCookies()
  await callAt(page, 'pasang', { kode })
  const pins = { idpetugas: sari.id, pin: sari.pin_awal, pin_baru: PIN.sari }
  await openIn(page, await callAt<Session>(page, 'masuk', pins), `${url}/kasir`)
  await expect(page.getByRole('link', { name: 'Mesin' })).toBeVisible()
}

export async function lock(page: Page): Promise<void> {
  await page.getByRole('button', { name: /Kunci kasir/ }).click()
  await expect(page.getByText('Siapa yang bertugas?')).toBeVisible()
}

/** Opens Rina's shift, without money in the drawer. */
export async function openShift(shop: Shop): Promise<Session> {
  const session = await sessionOf(shop, 'rina')
  await callAt(shop.page, 'shift', { modal: 0 }, session.token)
  return session
}

/** Opens the till's page, where somebody has a shift. */
export async function enterTill({ page, url }: Shop, session: Session): Promise<void> {
  await openIn(page, session, `${url}/kasir`)
  await expect(page.getByText('Ketik nomor WhatsApp')).toBeAttached()
}

/** A shop where Rina is at the till and her shift is open. */
export async function openTill(page: Page, options: ShopOptions = {}): Promise<Shop> {
  const shop = await readyShop(page, options)
  await enterTill(shop, await openShift(shop))
  return shop
}

/**
 * Types as a USB scanner does: the code's keys faster than any hand, and Enter. The events are created in the page, all with one time
 * stamp, so that a busy machine adds no pauses between them.
 */
export async function scanAt(page: Page, text: string): Promise<void> {
  await page.evaluate(
    (keys) => {
      const at = document.activeElement ?? document.body
      const timeStamp = { value: performance.now() }
      for (const key of keys) {
        const stroke = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })
        at.dispatchEvent(Object.defineProperty(stroke, 'timeStamp', timeStamp))
      }
    },
    [...text, 'Enter'],
  )
}

/** Longer than any pause within a burst of keys, so that the next key begins another one. */
const PAUSE_MS = 300

/**
 * Presses a scanner's keys in the browser itself, with all their effects. They carry the timestamps of a scanner of this pace, up to now:
 * a busy machine adds no pauses between them.
 */
export async function pressScan(
  page: Page,
  text: string,
  { pace_ms = 20, end = 'Enter' }: { pace_ms?: number; end?: 'Enter' | 'Tab' | null } = {},
): Promise<void> {
  const devTools = await page.context().newCDPSession(page)
  const strokes = [...text, ...(end ? [end] : [])]
  const length_ms = strokes.length * pace_ms
  await page.waitForTimeout(length_ms + PAUSE_MS)
  const first_s = (Date.now() - length_ms) / 1_000
  await Promise.all(
    strokes.flatMap((key, i) => {
      const stroke = {
        key,
        timestamp: first_s + (i * pace_ms) / 1_000,
        ...(key === 'Enter' && { code: 'Enter', windowsVirtualKeyCode: 13, text: '\r' }),
        ...(key === 'Tab' && { code: 'Tab', windowsVirtualKeyCode: 9 }),
        ...(key === ' ' && { code: 'Space', windowsVirtualKeyCode: 32 }),
        ...(key.length === 1 && { text: key }),
      }
      return (['keyDown', 'keyUp'] as const).map((type) =>
        devTools.send('Input.dispatchKeyEvent', { type, ...stroke }),
      )
    }),
  )
  await devTools.detach()
  // A hand does not type its first key in the same breath.
  await page.waitForTimeout(PAUSE_MS)
}

/** The picture of the code that a customer's phone shows. */
export async function pictureOf(phone: Page): Promise<string> {
  const code = phone.getByRole('img', { name: /Kode QR Anda/ })
  await expect(code).toBeVisible()
  return (await code.getAttribute('src')) ?? ''
}

export const codeOf = async (phone: Page): Promise<string> => readQr(await pictureOf(phone))

/** A customer whose phone shows their code. */
export async function withPhone(
  context: BrowserContext,
  name = 'Siti Rahma',
): Promise<{ phone: Page; customer: Customer }> {
  const customer = await newCustomer(name)
  const phone = await context.newPage()
  await openAs(phone, customer, '/topUpPage')
  return { phone, customer }
}

/** Number of digits that a hand types before it pauses: more digits at once count as a scanner. */
const DIGITS_AT_ONCE = 6
const REST_MS = 150

/** Types a long number as a hand does on a number pad. */
export async function typeNumber(page: Page, digits: string): Promise<void> {
  for (let i = 0; i < digits.length; i += DIGITS_AT_ONCE) {
    if (i > 0) await page.waitForTimeout(REST_MS)
    await page.keyboard.type(digits.slice(i, i + DIGITS_AT_ONCE))
  }
}

/** Finds a customer by their number, which any keyboard can type. */
export async function findByNumber(page: Page, { telp }: Customer): Promise<void> {
  await expect(page.getByText('Ketik nomor WhatsApp')).toBeAttached()
  await typeNumber(page, `0${telp}`)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('region', { name: 'Pelanggan', exact: true })).toBeVisible()
}

/** Collects the bodies of the page's later calls of this path. */
export function callsTo(page: Page, path: string): string[] {
  const calls: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST' && new URL(request.url()).pathname === `/ops/v1/${path}`)
      calls.push(request.postData() ?? '')
  })
  return calls
}

/** The outlet's sales in the ledger, newest first: rupiah that each top-up added. */
export const amountsSold = async (idoutlet: number): Promise<number[]> =>
  (await sold(idoutlet)).map(({ quota }) => quota)
