import { type Customer, newCustomer, newTelp, newWorld, topUp, type World } from './support/api.ts'
import { expectFineScreen } from './support/axe.ts'
import { buy } from './support/buy.ts'
import { enterCode } from './support/purchase.ts'
import { expect, openAs, test, typeOtp } from './support/test.ts'

async function shop(): Promise<{ world: World; customer: Customer }> {
  const world = await newWorld([
    { nama: 'Cuci Kilat', durasi: 600, harga: 8_000 },
    { nama: 'Cuci Selimut dan Bed Cover Ukuran Besar', durasi: 4_200, harga: 1_250_000 },
  ])
  const customer = await newCustomer('Siti Nurhaliza Rahmawati Kusumawardhani')
  await topUp(customer, world.idoutlet, 20_000_000)
  return { world, customer }
}

const looks = [
  { colorScheme: 'light', width: 360 },
  { colorScheme: 'dark', width: 320 },
] as const

for (const { colorScheme, width } of looks) {
  test.describe(`${colorScheme}, ${width} px`, () => {
    test.use({ colorScheme, viewport: { width, height: 700 } })

    test('the public screens', async ({ page }) => {
      for (const path of [
        '/',
        '/login',
        '/register',
        '/forgotPasswordTelp',
        `/forgotPasswordOtp/${newTelp()}`,
      ]) {
        await page.goto(path)
        await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
        await expectFineScreen(page)
      }
      const telp = newTelp()
      await page.goto('/register')
      await page.getByLabel('Nomor WhatsApp').fill(telp)
      await page.getByLabel('Kata Sandi', { exact: true }).fill('Rahasia123')
      await page.getByLabel('Ulangi Kata Sandi').fill('Rahasia123')
      await page.getByLabel('Nama Akun').fill('Rina Wijaya')
      await page.getByRole('button', { name: 'Daftar' }).click()
      await expect(page).toHaveURL(`/otp/${telp}`)
      await expect(page.getByRole('heading', { name: 'Verifikasi nomor' })).toBeVisible()
      await expectFineScreen(page)
      await page.goto(`/forgotPasswordOtp/${telp}`)
      await typeOtp(page, '123456')
      await page.getByRole('button', { name: 'Simpan' }).click()
      await expect(page).toHaveURL(`/changePassword/${telp}`)
      await expect(page.getByRole('heading', { name: 'Kata sandi baru' })).toBeVisible()
      await expectFineScreen(page)
    })

    test('what stands in the way of a purchase', async ({ page }) => {
      const { world, customer } = await shop()
      const poor = await newCustomer()
      await openAs(page, poor, '/scanPage')
      await enterCode(page, world.machine.kode)
      await expect(page.getByRole('dialog', { name: 'E-Pay tidak ditemukan' })).toBeVisible()
      await expectFineScreen(page)
      await page.goto('/pilihEpay')
      await expect(page.getByText('E-Pay tidak ditemukan')).toBeVisible()
      await expectFineScreen(page)
      expect((await buy(customer, world)).answer.status).toBe(200)
      const other = await newCustomer()
      await topUp(other, world.idoutlet, 100_000)
      for (const [who, busy] of [
        [customer, 'Sedang Anda pakai'],
        [other, 'Sedang digunakan'],
      ] as const) {
        await openAs(page, who, '/scanPage')
        await enterCode(page, world.machine.kode)
        await expect(page.getByText(busy)).toBeVisible()
        await expectFineScreen(page)
      }
    })

    test('the dashboard', async ({ page }) => {
      const { world, customer } = await shop()
      await openAs(page, await newCustomer())
      await expect(page.getByText('Belum ada saldo E-Pay')).toBeVisible()
      await expectFineScreen(page)
      await openAs(page, customer)
      await expect(page.getByText('Rp 20.000.000')).toBeVisible()
      await expectFineScreen(page)
      await page.getByRole('button', { name: /Info outlet/ }).click()
      await expectFineScreen(page)
      expect((await buy(customer, world)).answer.status).toBe(200)
      await page.goto('/dashboard')
      await expect(page.getByRole('timer')).toContainText(/\d\d:\d\d/)
      await expectFineScreen(page)
    })

    test('the purchase', async ({ page }) => {
      const { world, customer } = await shop()
      await openAs(page, customer, '/scanPage')
      await expect(page.getByText(/Kamera/)).toBeVisible()
      await expectFineScreen(page)
      await enterCode(page, 'SALAH')
      await expect(page.getByText('Kode terdiri dari 8 huruf dan angka')).toBeVisible()
      await expectFineScreen(page)
      await page.getByLabel('Kode mesin', { exact: true }).fill(world.machine.kode)
      await page.keyboard.press('Enter')
      await expect(page.getByRole('heading', { name: world.machine.nama })).toBeVisible()
      await expectFineScreen(page)
      await page.getByRole('button', { name: /Cuci Selimut/ }).click()
      await expect(page.getByText('1 E-Pay ditemukan')).toBeVisible()
      await expectFineScreen(page)
      await page.getByRole('button', { name: new RegExp(world.outlet) }).click()
      await expect(page.getByText(/^SLF\d{15}$/)).toBeVisible()
      await expectFineScreen(page)
      await page.route('**/create_snap_transaksi', (route) => route.abort())
      await page.getByRole('button', { name: 'Bayar & Nyalakan Mesin' }).click()
      await expect(page.getByText('Memastikan pembayaran…')).toBeVisible()
      await expectFineScreen(page)
    })
  })
}

test('on a desktop the app stands in the middle', async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.goto('/login')
  const box = await page.getByRole('main').boundingBox()
  expect(box?.width).toBe(430)
  expect(Math.abs((box?.x ?? 0) + (box?.width ?? 0) / 2 - 640)).toBeLessThan(2)
})

test('the keyboard alone logs in and walks the bar; data that comes late takes no focus', async ({
  page,
}) => {
  const customer = await newCustomer()
  let release = () => {}
  const held = new Promise<void>((done) => {
    release = done
  })
  await page.route('**/get_dashboard', async (route) => {
    await held
    await route.continue()
  })
  await page.goto('/login')
  await page.getByLabel('Nomor WhatsApp').focus()
  await page.keyboard.type(customer.telp)
  await page.keyboard.press('Tab')
  await page.keyboard.type(customer.password)
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL('/dashboard')
  const link = page.getByRole('link', { name: 'Riwayat' })
  await link.focus()
  release()
  await expect(page.getByRole('heading', { level: 1, name: customer.nama })).toBeVisible()
  await expect(link).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL('/riwayatPage')
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused()
})

test('who wants no motion gets none', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await page.goto('/')
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await expect.poll(() => page.evaluate(() => document.getAnimations().length)).toBe(0)
})
