import { balance, newWorld, ops, type World } from './support/api.ts'
import { expectFineScreen } from './support/axe.ts'
import { BALANCE, enterCode, fundedAt, PRICE, pay, shop, toReceipt } from './support/purchase.ts'
import { expect, openAs, test, toastOf } from './support/test.ts'

const HOUR_MS = 3_600_000
const changed = 'Harga layanan berubah menjadi Rp 7.000'

/** The id of the outlet's first service. */
async function serviceOf({ idoutlet }: World): Promise<number> {
  const headers = { authorization: `Bearer ${process.env.NYALA_KEY}` }
  const answer = await fetch(`${process.env.NYALA_URL}/ops/v1/layanan?idoutlet=${idoutlet}`, { headers })
  const { data } = (await answer.json()) as { data: { id: number }[] }
  return data[0]?.id ?? 0
}

test('a price that changed is shown, and paid only after another tap, with another receipt', async ({
  page,
}) => {
  const { world, customer } = await shop()
  await toReceipt(page, world, customer)
  const first = await page.getByText(/^SLF\d{15}$/).textContent()
  const sent: { id: string; total: number }[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/create_snap_transaksi')) sent.push(request.postDataJSON())
  })
  await ops(`layanan/${await serviceOf(world)}`, { harga: PRICE - 1_000 })
  await pay(page)
  const dialog = page.getByRole('dialog', { name: changed })
  await expect(dialog).toContainText('Harga tadi Rp 8.000')
  await expectFineScreen(page)
  // A reload says it again, and pays nothing.
  await page.reload()
  await expect(dialog).toBeVisible()
  expect(await balance(customer)).toBe(BALANCE)
  expect(sent).toHaveLength(1)

  await dialog.getByRole('button', { name: 'Bayar Rp 7.000' }).click()
  await expect(toastOf(page, 'Mesin Berhasil dinyalakan')).toBeVisible()
  await expect(page).toHaveURL('/dashboard')
  expect(await balance(customer)).toBe(BALANCE - PRICE + 1_000)
  expect(sent.map(({ total }) => total)).toEqual([PRICE, PRICE - 1_000])
  expect(sent[0]?.id).toBe(first)
  expect(sent[1]?.id).not.toBe(first)
})

test('a new price may be left alone: by the list of services, or by the receipt with the new price', async ({
  page,
}) => {
  const { world, customer } = await shop()
  await toReceipt(page, world, customer)
  const id = await serviceOf(world)
  await ops(`layanan/${id}`, { harga: PRICE - 1_000 })
  await pay(page)
  const dialog = page.getByRole('dialog', { name: changed })
  await expect(dialog).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(dialog).toHaveCount(0)
  await expect(page).toHaveURL('/pembayaran')
  await expect(page.getByText('-Rp 7.000')).toBeVisible()
  // Once seen, it is not said again.
  await page.reload()
  await expect(page.getByText('-Rp 7.000')).toBeVisible()
  await expect(dialog).toHaveCount(0)

  await ops(`layanan/${id}`, { harga: BALANCE + 1_000 })
  await pay(page)
  const dear = page.getByRole('dialog', { name: 'Harga layanan berubah menjadi Rp 51.000' })
  await expect(dear).toContainText('Saldo kurang')
  await expect(dear.getByRole('button', { name: /^Bayar/ })).toHaveCount(0)
  // By keyboard: a tap just here, so soon after the one that paid, counts as its second one.
  await dear.getByRole('button', { name: 'Pilih layanan lain' }).press('Enter')
  await expect(page).toHaveURL('/pilihLayanan')
  await expect(page.getByRole('button', { name: /Cuci Kilat/ })).toContainText('Rp 51.000')
  expect(await balance(customer)).toBe(BALANCE)
})

test('a closed outlet says why and until when, and sells again once it is open', async ({ page }) => {
  const { world, customer } = await shop()
  const sampai = new Date(Math.ceil((Date.now() + HOUR_MS) / HOUR_MS) * HOUR_MS).toISOString()
  await ops(`outlet/${world.idoutlet}/tutup`, { alasan: 'Air PDAM mati', sampai })
  await openAs(page, customer, '/scanPage')
  await enterCode(page, world.machine.kode)
  const state = page.getByRole('status').filter({ hasText: 'Outlet sedang tutup' })
  await expect(state).toHaveText(
    /^Outlet sedang tutupAir PDAM mati\. Buka lagi (\d\d\/\d\d\/\d{4} )?\d\d[.:]00\.$/,
  )
  await expect(page.getByText('Mesin sedang offline')).toHaveCount(0)
  const service = page.getByRole('button', { name: /Cuci Kilat/ })
  await expect(service).toBeDisabled()
  await expect(page.getByRole('button', { name: 'Pindai mesin lain' })).toHaveCount(0)
  await expectFineScreen(page)

  await ops(`outlet/${world.idoutlet}/buka`, {})
  await page.reload()
  await expect(service).toBeEnabled()
})

test('a closed outlet whose opening nobody knows says why', async ({ page }) => {
  const { world, customer } = await shop()
  await openAs(page, customer, '/scanPage')
  await enterCode(page, world.machine.kode)
  await expect(page.getByRole('button', { name: /Cuci Kilat/ })).toBeEnabled()
  await ops(`outlet/${world.idoutlet}/tutup`, { alasan: 'Banjir' })
  await page.reload()
  await expect(page.getByRole('status').filter({ hasText: 'Outlet' })).toHaveText(
    'Outlet sedang tutupBanjir.',
  )
})

test('a price that ends within the hour says until when it holds', async ({ page }) => {
  const world = await newWorld([
    { nama: 'Cuci Kilat', durasi: 600, harga: PRICE },
    { nama: 'Cuci Reguler', durasi: 2_130, harga: 15_000 },
  ])
  const customer = await fundedAt(world)
  // The minute of the day in Jakarta, three quarters of an hour from now.
  const end = new Date(Date.now() + 7 * HOUR_MS + 0.75 * HOUR_MS).toISOString().slice(11, 16)
  const rule = { hari: [1, 2, 3, 4, 5, 6, 7], dari: end, harga: 5_000 }
  const later = new Date(Date.now() + 7 * HOUR_MS + 2 * HOUR_MS).toISOString().slice(11, 16)
  await ops(`layanan/${await serviceOf(world)}`, { aturan: [{ ...rule, sampai: later }] })
  await openAs(page, customer, '/scanPage')
  await enterCode(page, world.machine.kode)
  const quick = page.getByRole('button', { name: /Cuci Kilat/ })
  await expect(quick).toContainText(`Rp 8.000sampai ${end.replace(':', '.')}`)
  await expect(page.getByRole('button', { name: /Cuci Reguler/ })).not.toContainText('sampai')
  await expectFineScreen(page)
})
