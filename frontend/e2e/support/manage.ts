import type { Page } from '@playwright/test'
import { expect } from './test.ts'
import { button, enter, readyShop, type Shop } from './till.ts'

interface Options {
  services?: { nama: string; durasi: number; harga: number }[]
  /** A part's button; the services are open at first. */
  part?: string
}

/** A shop whose supervisor is at the management. */
export async function openManagement(page: Page, { services = [], part }: Options = {}): Promise<Shop> {
  const shop = await readyShop(page, { outlet: 'Laundry Melati', services })
  await enter(shop, 'hadi', '/kasir/kelola')
  await expect(button(page, 'Tambah layanan')).toBeVisible()
  if (part) await button(page, part).press('Enter')
  return shop
}

export const dialog = (page: Page, name: string | RegExp) => page.getByRole('dialog', { name, exact: true })
export const card = (page: Page, name: RegExp) => page.getByRole('listitem').filter({ hasText: name })
export const said = (page: Page, text: string) => expect(page.getByText(text, { exact: true })).toBeVisible()

/** Reads from the operators' calls as root. */
export async function readOps<T>(path: string): Promise<T> {
  const headers = { authorization: `Bearer ${process.env.NYALA_KEY}` }
  const answer = await fetch(`${process.env.NYALA_URL}/ops/v1/${path}`, { headers })
  return ((await answer.json()) as { data: T }).data
}
