import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { repo } from './support/nyala.ts'
import { enterCode, shop } from './support/purchase.ts'
import { expect, openAs, test } from './support/test.ts'

/** Removes the functions that Chrome 87 or Safari 15 lacks (vite.common.ts), as far as a page could call them. */
function removeNewApis(): void {
  const lists = [Array, String, Int8Array, Uint8Array, Float32Array]
  const methods = ['at', 'findLast', 'findLastIndex', 'toSorted', 'toReversed', 'toSpliced', 'with']
  for (const { prototype } of lists) for (const name of methods) Reflect.deleteProperty(prototype, name)
  Reflect.deleteProperty(Object.getPrototypeOf(Int8Array.prototype), 'at')
  for (const name of ['hasOwn', 'groupBy']) Reflect.deleteProperty(Object, name)
  Reflect.deleteProperty(Promise, 'withResolvers')
  for (const name of ['timeout', 'any']) Reflect.deleteProperty(AbortSignal, name)
  for (const name of ['showModal', 'show', 'close', 'open', 'returnValue'])
    Reflect.deleteProperty(HTMLDialogElement.prototype, name)
  for (const name of ['inert', 'popover']) Reflect.deleteProperty(HTMLElement.prototype, name)
  Reflect.deleteProperty(Element.prototype, 'checkVisibility')
  Reflect.deleteProperty(Crypto.prototype, 'randomUUID')
  for (const name of [
    'structuredClone',
    'requestIdleCallback',
    'scheduler',
    'navigation',
    'BarcodeDetector',
    'reportError',
  ])
    Reflect.deleteProperty(window, name)
}

const old = (page: Page) => page.addInitScript(removeNewApis)

test('the oldest declared browsers buy', async ({ page }) => {
  await old(page)
  const { world, customer } = await shop()
  await openAs(page, customer, '/scanPage')
  await enterCode(page, world.machine.kode)
  await page.getByRole('button', { name: /Cuci Kilat/ }).click()
  await page.getByRole('button', { name: new RegExp(world.outlet) }).click()
  await page.getByRole('button', { name: 'Bayar & Nyalakan Mesin' }).click()
  await expect(page.getByRole('timer')).toContainText(/\d\d:\d\d/)
  await page.getByRole('link', { name: 'Riwayat' }).click()
  await page.getByRole('listitem').filter({ hasText: '-Rp 8.000' }).getByRole('button').click()
  await expect(page.getByRole('dialog')).toContainText('No Nota')
})

test('a dialog of a browser that knows none covers the page, keeps the focus and closes', async ({
  page,
}) => {
  await old(page)
  const { customer } = await shop()
  await openAs(page, customer, '/akun')
  await page.getByRole('button', { name: /^Ubah nama/ }).click()
  const dialog = page.getByRole('dialog', { name: 'Ubah Nama' })
  await expect(dialog).toBeInViewport()
  const covered = await dialog.boundingBox()
  expect(covered).toMatchObject({ x: 0, y: 0, width: 360, height: 780 })
  for (let tab = 0; tab < 8; tab++) {
    await page.keyboard.press('Tab')
    expect(await dialog.evaluate((node) => node.contains(document.activeElement))).toBe(true)
  }
  await page.keyboard.press('Escape')
  await expect(dialog).toBeHidden()
})

for (const path of ['/', '/kasir/']) {
  test(`a browser that is too old reads one sentence at ${path}`, async ({ page }) => {
    await page.addInitScript(() => {
      Reflect.deleteProperty(window, 'WeakRef')
      Reflect.deleteProperty(Promise, 'any')
    })
    // The old browser understands none of the app's own files.
    await page.route('**/assets/*.js', (route) => route.abort())
    await page.goto(path)
    await expect(page.getByText('Browser ini terlalu lama')).toBeVisible()
  })

  test(`no such sentence stands at ${path} of a present one`, async ({ page }) => {
    await page.goto(path)
    await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible()
    await expect(page.getByText('Browser ini terlalu lama')).toBeHidden()
  })
}

test('what says so is written for the oldest browsers', () => {
  const script = readFileSync(join(repo, 'frontend/public/old-browser.js'), 'utf8')
  expect(script).not.toMatch(/=>|\b(let|const|class|async)\b|`|\?\.|\?\?/)
})
