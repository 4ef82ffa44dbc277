import type { Page } from '@playwright/test'
import { balance, type Customer, newCustomer, ops } from './support/api.ts'
import { expect, test } from './support/test.ts'
import {
  amountsSold,
  button,
  callAt,
  choosePins,
  findByNumber,
  lock,
  logIn,
  openTill,
  PIN,
  type Shop,
  TABLET,
  tokenOf,
} from './support/till.ts'

test.use({ viewport: TABLET })

const TOP_UP = '**/ops/v1/topup'
const UNDECIDED = /Menunggu jawaban server…|Top-up belum terjawab/
const made = (page: Page, name = 'Siti R.') => page.getByText(`Saldo ${name} sudah masuk`)

/** Opens Rina's till with a customer and an amount chosen: only the button is left to press. */
async function beforeTheButton(page: Page, url?: string): Promise<{ shop: Shop; customer: Customer }> {
  const shop = await openTill(page, url ? { url } : {})
  const customer = await newCustomer('Siti Rahma')
  await findByNumber(page, customer)
  await button(page, 'Rp 50.000').click()
  return { shop, customer }
}

const confirm = (page: Page) => button(page, 'Isi Rp 50.000 untuk Siti').click()

type Fate = 'never leaves' | 'answer is lost' | 'never answered' | 'held back'

/** Gives each top-up request of the page its fate, in order, and `after` to all later ones. Returns the keys that the requests had. */
async function meet(page: Page, fates: Fate[], after: Fate | 'well' = 'well'): Promise<string[]> {
  const keys: string[] = []
  await page.route(TOP_UP, async (route) => {
    const fate = fates[keys.length] ?? after
    keys.push(route.request().headers()['idempotency-key'] ?? '')
    if (fate === 'well') return route.continue()
    if (fate === 'answer is lost' || fate === 'never answered') await route.fetch()
    if (fate === 'never leaves' || fate === 'answer is lost') return route.abort('connectionreset')
  })
  return keys
}

/** Exactly one top-up happened: the customer and the ledger have it, and all requests carried one key. */
async function expectOne(shop: Shop, customer: Customer, keys = ['one']): Promise<void> {
  expect(await balance(customer)).toBe(50_000)
  expect(await amountsSold(shop.idoutlet)).toEqual([50_000])
  expect(new Set(keys).size).toBe(1)
  expect(await openOnes(shop.page)).toBe(0)
}

const openOnes = (page: Page): Promise<number> =>
  page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('nyala.kasir.top-up.')).length)

for (const fates of [
  ['never leaves'],
  ['answer is lost'],
  ['never leaves', 'answer is lost', 'never leaves', 'answer is lost'],
] satisfies Fate[][]) {
  test(`asked again by itself until it is decided: ${fates.join(', ')}`, async ({ page }) => {
    const { shop, customer } = await beforeTheButton(page)
    const keys = await meet(page, fates)
    await confirm(page)
    await expect(made(page)).toBeVisible()
    await expect(page.getByText('Rp 50.000').first()).toBeVisible()
    expect(keys.length).toBeGreaterThan(fates.length)
    await expectOne(shop, customer, keys)
  })
}

test('a line that swallows the answer and then dies: the till says that it waits, and knows when it is back', async ({
  page,
  line,
}) => {
  const { shop, customer } = await beforeTheButton(page, line.url)
  line.loseAnswers()
  await confirm(page)
  await expect.poll(() => amountsSold(shop.idoutlet)).toEqual([50_000])
  line.cut()
  await expect(page.getByText(UNDECIDED)).toBeVisible()
  await expect(page.getByText('Rp 50.000 untuk Siti R.', { exact: false })).toBeVisible()
  await expect(page.getByText('Terputus')).toBeVisible()
  await expect(made(page)).toBeHidden()
  line.mend()
  await expect(made(page)).toBeVisible()
  await expectOne(shop, customer)
})

for (const fate of ['never answered', 'held back'] satisfies Fate[]) {
  test(`the page is reloaded while it is unanswered: ${fate}`, async ({ page }) => {
    const { shop, customer } = await beforeTheButton(page)
    const keys = await meet(page, [fate])
    await confirm(page)
    await expect.poll(() => keys.length).toBe(1)
    if (fate === 'never answered') await expect.poll(() => amountsSold(shop.idoutlet)).toEqual([50_000])
    await page.reload()
    await expect(made(page)).toBeVisible()
    expect(keys.length).toBeGreaterThan(1)
    await expectOne(shop, customer, keys)
  })
}

test('two touches at once are one top-up', async ({ page }) => {
  const { shop, customer } = await beforeTheButton(page)
  const keys = await meet(page, [])
  await button(page, 'Isi Rp 50.000 untuk Siti').evaluate((one: HTMLButtonElement) => {
    one.click()
    one.click()
  })
  await expect(made(page)).toBeVisible()
  await expectOne(shop, customer, keys)
  expect(keys.length).toBe(1)
})

test('somebody else is at the till meanwhile: they see it, sell their own, and whoever sent it hears of it', async ({
  context,
  page,
}) => {
  const { shop, customer } = await beforeTheButton(page)
  await choosePins(shop, 'tono')
  const keys = await meet(page, ['answer is lost'], 'never leaves')
  await confirm(page)
  await expect(page.getByText(UNDECIDED)).toBeVisible()
  const open = /Top-up Rp 50\.000 untuk Siti R\. oleh Rina .* belum terjawab/
  await lock(page)
  await expect(page.getByText(open)).toBeVisible()
  await page.unroute(TOP_UP)

  await logIn(page, 'Tono', PIN.tono)
  await expect(page.getByText('Ketik nomor WhatsApp')).toBeVisible()
  await expect(page.getByText(open)).toBeVisible()
  // The same customer again: the open top-up is shown beside the button.
  await findByNumber(page, customer)
  await expect(page.getByText(open)).toBeVisible()
  await button(page, 'Ganti pelanggan').click()
  const budi = await newCustomer('Budi Santoso')
  await findByNumber(page, budi)
  await expect(page.getByText(open)).toBeHidden()
  await button(page, 'Rp 20.000').click()
  await button(page, 'Isi Rp 20.000 untuk Budi').click()
  await expect(made(page, 'Budi S.')).toBeVisible()
  await page.close()

  // The tab is gone, but the browser's storage is not.
  const next = await context.newPage()
  await next.goto(`${process.env.NYALA_URL}/kasir`)
  await expect(next.getByText(open)).toBeVisible()
  const again = await meet(next, [])
  await logIn(next, 'Rina', PIN.rina)
  await expect(made(next)).toBeVisible()
  expect(again).toEqual([keys[0]])
  expect(await balance(customer)).toBe(50_000)
  expect(await balance(budi)).toBe(20_000)
  expect(await amountsSold(shop.idoutlet)).toEqual([20_000, 50_000])
  expect(await openOnes(next)).toBe(0)
})

test('the session ends while it is unanswered: it is asked for behind the next PIN', async ({ page }) => {
  const { shop, customer } = await beforeTheButton(page)
  const token = await tokenOf(page)
  let over = false
  const keys = await meet(page, ['answer is lost'])
  await page.route('**/healthz', (route) => (over ? route.continue() : route.abort()))
  await page.route(TOP_UP, (route) => (over || keys.length === 0 ? route.fallback() : route.abort()))
  await confirm(page)
  await expect(page.getByText(UNDECIDED)).toBeVisible()
  await callAt(page, 'keluar', undefined, token)
  over = true
  await expect(page.getByText('Siapa yang bertugas?')).toBeVisible()
  await logIn(page, 'Rina', PIN.rina)
  await expect(made(page)).toBeVisible()
  await expectOne(shop, customer, keys)
})

for (const reloaded of [false, true]) {
  test(`the answer is a refusal in the end${reloaded ? ', after a reload' : ''}: nothing moved, and it is told`, async ({
    page,
  }) => {
    const shop = await openTill(page)
    const { idoutlet } = shop
    const offer = { idoutlet, nama: 'Paket Hemat', harga: 100_000, quota: 110_000 }
    const { idpaket } = await ops<{ idpaket: number }>('paket', offer)
    const customer = await newCustomer('Siti Rahma')
    await findByNumber(page, customer)
    await page.getByRole('button', { name: /Paket Hemat/ }).click()
    let dearer = false
    const keys: string[] = []
    await page.route(TOP_UP, (route) => {
      keys.push(route.request().headers()['idempotency-key'] ?? '')
      return dearer ? route.continue() : route.abort('connectionreset')
    })
    await button(page, 'Isi Rp 110.000 untuk Siti').click()
    await expect(page.getByText(UNDECIDED)).toBeVisible()
    await ops(`paket/${idpaket}`, { harga: 120_000 })
    if (reloaded) await page.reload()
    dearer = true
    await expect(page.getByText('harga paket berubah', { exact: false })).toBeVisible()
    expect(new Set(keys).size).toBe(1)
    expect(await amountsSold(idoutlet)).toEqual([])
    expect(await openOnes(page)).toBe(0)

    // The next top-up is a new one.
    await page.unroute(TOP_UP)
    const after = await meet(page, [])
    if (reloaded) await findByNumber(page, customer)
    await button(page, 'Rp 20.000').click()
    await button(page, 'Isi Rp 20.000 untuk Siti').click()
    await expect(made(page)).toBeVisible()
    expect(after.length).toBe(1)
    expect(keys).not.toContain(after[0])
    expect(await amountsSold(idoutlet)).toEqual([20_000])
  })
}

test('the shift is closed elsewhere while it is unanswered: nothing is sold, and it is told', async ({
  page,
}) => {
  const { shop } = await beforeTheButton(page)
  let closed = false
  await page.route(TOP_UP, (route) => (closed ? route.continue() : route.abort('connectionreset')))
  await confirm(page)
  await expect(page.getByText(UNDECIDED)).toBeVisible()
  await callAt(page, 'shift/tutup', { dihitung: 0 }, await tokenOf(page))
  closed = true
  await expect(page.getByText('Top-up Rp 50.000 untuk Siti R. tidak terjadi', { exact: false })).toBeVisible()
  expect(await amountsSold(shop.idoutlet)).toEqual([])
  expect(await openOnes(page)).toBe(0)
  await page.getByRole('button', { name: /^Buka shift/ }).click()
  await expect(button(page, 'Isi Rp 50.000 untuk Siti')).toBeEnabled()
  await expect(page.getByText('Shift belum dibuka')).toBeHidden()
})

test('what one has sold is not the next one to be sold by whoever logs in after', async ({ page }) => {
  const { shop } = await beforeTheButton(page)
  await choosePins(shop, 'tono')
  await confirm(page)
  await expect(made(page)).toBeVisible()
  await lock(page)
  await logIn(page, 'Tono', PIN.tono)
  await expect(page.getByText('Ketik nomor WhatsApp')).toBeVisible()
  await lock(page)
  // A customer who is only selected is kept until the next PIN, of any member of staff.
  await logIn(page, 'Rina', PIN.rina)
  await findByNumber(page, await newCustomer('Budi Santoso'))
  await lock(page)
  await logIn(page, 'Tono', PIN.tono)
  await expect(page.getByRole('heading', { name: 'Budi S.' })).toBeVisible()
  expect(await amountsSold(shop.idoutlet)).toEqual([50_000])
})

test('without a network the button is off and says why, and no money is queued', async ({
  page,
  context,
}) => {
  const { shop, customer } = await beforeTheButton(page)
  const keys = await meet(page, [])
  await context.setOffline(true)
  const one = button(page, 'Isi Rp 50.000 untuk Siti')
  await expect(one).toBeDisabled()
  await expect(one).toHaveAccessibleDescription('Tidak ada sambungan, top-up belum bisa dikirim.')
  await expect(page.getByText('Terputus')).toBeVisible()
  // Everything else may still be prepared.
  await button(page, 'Rp 20.000').click()
  await button(page, 'Rp 50.000').click()
  await page.keyboard.press('Enter')
  await expect(one).toBeDisabled()
  expect(await openOnes(page)).toBe(0)
  await context.setOffline(false)
  await expect(one).toBeEnabled()
  await expect(page.getByText('Terputus')).toBeHidden()
  expect(keys).toEqual([])
  expect(await amountsSold(shop.idoutlet)).toEqual([])
  await one.click()
  await expect(made(page)).toBeVisible()
  await expectOne(shop, customer, keys)
})

test('a server that is gone turns the button off too', async ({ page, line }) => {
  const { shop, customer } = await beforeTheButton(page, line.url)
  line.cut()
  // The next request of the page, of any kind, finds out.
  await page.getByRole('link', { name: 'Transaksi' }).click()
  await expect(page.getByText('Terputus')).toBeVisible()
  await page.getByRole('link', { name: 'Isi Saldo' }).click()
  const one = button(page, 'Isi Rp 50.000 untuk Siti')
  await expect(one).toBeDisabled()
  await expect(one).toHaveAccessibleDescription('Tidak ada sambungan, top-up belum bisa dikirim.')
  expect(await openOnes(page)).toBe(0)
  line.mend()
  await expect(one).toBeEnabled()
  await one.click()
  await expect(made(page)).toBeVisible()
  await expectOne(shop, customer)
})
