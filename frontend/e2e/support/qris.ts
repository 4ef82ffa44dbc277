import type { Page, Response } from '@playwright/test'
import { ops } from './api.ts'

/** How an outlet takes QRIS from now on. */
export const takeQris = (idoutlet: number, qris: 'off' | 'manual' | 'midtrans' | 'simulated') =>
  ops(`outlet/${idoutlet}`, { qris })

interface Played {
  aksi: 'bayar' | 'kedaluwarsa' | 'terlambat'
  /** What was paid, if not the bill's amount. */
  jumlah?: number
  /** How many notifications come at once. */
  kali?: number
  /** No notification: only asking finds it. */
  diam?: boolean
}

/** What happens to a bill at the simulated provider. */
export async function play(idtagihan: string, played: Played): Promise<void> {
  const answer = await fetch(`${process.env.NYALA_URL}/dev/qris/${idtagihan}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(played),
  })
  if (!answer.ok) throw new Error(`dev/qris: ${answer.status} ${await answer.text()}`)
}

/** The id of the bill that the page makes by `act`. */
export async function billMadeBy(page: Page, act: () => Promise<unknown>): Promise<string> {
  const isMaking = (response: Response) =>
    response.request().method() === 'POST' && new URL(response.url()).pathname === '/ops/v1/tagihan'
  const [response] = await Promise.all([page.waitForResponse(isMaking), act()])
  const { data, message } = (await response.json()) as { data: { idtagihan: string } | null; message: string }
  if (!data) throw new Error(`tagihan: ${message}`)
  return data.idtagihan
}
