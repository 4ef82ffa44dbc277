import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@playwright/test'
import { screens } from '../stage/screens.ts'
import { FOLDER, THEMES } from './folder.ts'

/** Width of one picture on a sheet; wider pictures are cut into as many columns as they need. */
const WIDTH = 156
const COLUMNS = 10

const PHONE = [
  ...screens.map(({ name }) => name),
  'pindah-tautan',
  'kasir-berhasil',
  'kasir-hitung',
  'kasir-tertahan',
]
const WIDE = [
  'desktop',
  'kasir-isi-saldo',
  'kasir-masuk',
  'kasir-qris',
  'kasir-qris-daftar',
  'kasir-tarik',
  'kasir-pindah',
  'kasir-perhatian',
  'kasir-keluhan',
]

const STYLE = `body{margin:16px;width:${COLUMNS * (WIDTH + 12)}px;display:flex;flex-wrap:wrap;gap:12px;align-items:flex-start;background:#d9d7cc;font:11px sans-serif;color:#16202b}figure{margin:0}figcaption{padding-bottom:4px}img{display:block;border-radius:8px}`

function figure(name: string, width: number): string {
  const png = readFileSync(join(FOLDER, `${name}.png`)).toString('base64')
  return `<figure><figcaption>${name}</figcaption><img width="${width}" src="data:image/png;base64,${png}"></figure>`
}

/** The check runs before the sheets are made, so that none of them shows a screen that no longer exists. */
test('no picture is of something that is gone', () => {
  const known = THEMES.flatMap(([, suffix]) => [...PHONE, ...WIDE].map((name) => `${name}${suffix}.png`))
  const there = readdirSync(FOLDER).filter((file) => file.endsWith('.png'))
  expect(there.filter((file) => !known.includes(file))).toEqual([])
})

for (const [theme, suffix] of THEMES) {
  test(`all of them, ${theme}`, async ({ page }) => {
    const figures = [
      ...PHONE.map((name) => figure(name + suffix, WIDTH)),
      ...WIDE.map((name) => figure(name + suffix, 3 * WIDTH + 24)),
    ]
    await page.setViewportSize({ width: COLUMNS * (WIDTH + 12) + 32, height: 800 })
    await page.setContent(`<style>${STYLE}</style>${figures.join('')}`)
    await page.screenshot({
      path: join(FOLDER, `semua${suffix}.jpg`),
      type: 'jpeg',
      quality: 80,
      fullPage: true,
    })
  })
}
