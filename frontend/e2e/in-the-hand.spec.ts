import { open } from './stage/open.ts'
import { dashboard, LONG_RUN, SECOND } from './stage/people.ts'
import { screens } from './stage/screens.ts'
import { expect, test } from './support/test.ts'

const home = screens.find(({ name }) => name === 'beranda')
if (!home) throw new Error('the stage has no dashboard')

test.describe('a phone at twice its size', () => {
  for (const width of [160, 180, 240, 291]) {
    test(`has the whole bar in ${width} px`, async ({ page }) => {
      await page.setViewportSize({ width, height: 390 })
      await open(page, { name: 'bar', path: '/akun', shows: 'Akun' })
      for (const name of ['Beranda', 'Top Up', 'Scan mesin', 'Riwayat', 'Akun']) {
        const box = await page.getByRole('navigation').getByRole('link', { name }).boundingBox()
        expect(box?.x).toBeGreaterThanOrEqual(0)
        expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(width)
        expect(box?.width).toBeGreaterThanOrEqual(24)
      }
    })
  }
})

test('with thirty machines the balances are in reach, and all machines can be seen', async ({ page }) => {
  const [detail] = LONG_RUN.snap_transaksi_detail
  if (!detail) throw new Error('a run has a machine')
  const runs = Array.from({ length: 30 }, (_, i) => ({
    ...LONG_RUN,
    id: `SLF2611221600000${String(i).padStart(2, '0')}`,
    created_at: new Date(Date.parse(LONG_RUN.created_at) - i * SECOND).toISOString(),
    snap_transaksi_detail: [{ ...detail, idmesin: i + 1, snap_mesin: { nama: `Cuci ${i + 1}` } }],
  }))
  const answers = { 'dashboard/get_dashboard': dashboard(runs) }
  await open(page, { name: 'banyak', path: '/dashboard', answers, shows: 'Rp 85.000' })
  const balance = await page.getByText('Rp 85.000').boundingBox()
  expect(balance?.y).toBeLessThan(2 * 780)
  await expect(page.getByText('Cuci 30', { exact: true })).toBeHidden()
  await page.getByRole('button', { name: 'Tampilkan 26 mesin lagi' }).click()
  await expect(page.getByText('Cuci 30', { exact: true })).toBeVisible()
})

test('without network Top Up has the number that the dashboard showed', async ({ page }) => {
  await open(page, { ...home, shows: '00:48' })
  await page.route('**/scan/v1/**', (route) => route.abort())
  await page.goto('/topUpPage')
  await expect(page.getByText('0851 9136 3216')).toBeVisible()
})
