import { ops, type World } from './api.ts'

/** The outlet takes QRIS by the simulated provider. */
export async function offerQris({ idoutlet }: Pick<World, 'idoutlet'>): Promise<void> {
  await ops(`outlet/${idoutlet}`, { qris: 'simulated' })
}

interface Order {
  order_id: string
  jumlah: number
  status: string
}

/** The bills at the simulated provider, newest first. */
export async function ordersAtProvider(): Promise<Order[]> {
  const response = await fetch(`${process.env.NYALA_URL}/dev/qris`, {
    headers: { accept: 'application/json' },
  })
  return ((await response.json()) as { data: Order[] }).data
}

/** What the provider does with a bill. `diam`: it sends no notification, so that the server learns of it by asking only. */
export async function atProvider(
  order_id: string,
  what: { aksi: 'bayar' | 'kedaluwarsa' | 'terlambat'; jumlah?: number; kali?: number; diam?: boolean },
): Promise<void> {
  const response = await fetch(`${process.env.NYALA_URL}/dev/qris/${order_id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(what),
  })
  if (!response.ok) throw new Error(`dev/qris: ${response.status} ${await response.text()}`)
}
