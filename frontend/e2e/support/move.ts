import type { BrowserContext, Page } from '@playwright/test'
import { type Customer, lastText, newCustomer, topUp } from './api.ts'
import { callAt, codeOf, PIN, type Shop, withPhone } from './till.ts'

export interface AskedMove {
  /** The number that was lost: Rp 30.000. */
  old: Customer
  /** Asks once more, as the supervisor. */
  ask: () => Promise<unknown>
}

/** Hadi, the supervisor, logs in at the tablet, outside its page; returns his token. */
export async function supervisor({ page, hadi }: Pick<Shop, 'page' | 'hadi'>): Promise<string> {
  const { token } = await callAt<{ token: string }>(page, 'masuk', { idpetugas: hadi.id, pin: PIN.hadi })
  return token
}

/** At a till where the staff have PINs, a supervisor has asked for a lost number's accounts to move to the number of a phone. */
export async function askMove(shop: Shop, context: BrowserContext): Promise<AskedMove> {
  const token = await supervisor(shop)
  const old = await newCustomer('Siti Rahma')
  await topUp(old, shop.idoutlet, 30_000)
  const { phone } = await withPhone(context)
  const qr = await codeOf(phone)
  await phone.close()
  const ask = () => callAt(shop.page, 'pindah', { qr, telp: `0${old.telp}` }, token)
  await ask()
  return { old, ask }
}

/** The path of the page in the message that the old number got. */
export async function linkOf({ old }: AskedMove): Promise<string> {
  const text = await lastText(old.telp)
  const path = /\/pindah\/\S+/.exec(text)?.[0]
  if (!path) throw new Error(`no link in: ${text}`)
  return path
}

/** The owner of the old number says no at that page. */
export async function refuseAt(page: Page, asked: AskedMove): Promise<void> {
  await page.goto(await linkOf(asked))
  await page.getByRole('button', { name: 'Bukan saya, batalkan' }).click()
}
