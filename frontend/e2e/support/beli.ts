import { type Answer, type Customer, scan, type World } from './api.ts'

let count = 0

/** A receipt number nobody had yet. */
export function newNota(): string {
  return `SLF261120${String((Date.now() + count++) % 1e9).padStart(9, '0')}`
}

interface Layanan {
  id: number
  harga: number
}

/** Buys a use without the screens, as the app would; the answer may be a refusal. */
export async function buy(
  customer: Customer,
  world: World,
  idmesin = world.mesin.id,
): Promise<{ nota: string; answer: Answer<unknown> }> {
  const { token } = customer
  const services = await scan<{ data_layanan: Layanan[] }>(
    'transaksi/get_layanan',
    { qr: world.mesin.kode, limit: 1, skip: 0, search: '' },
    token,
  )
  const [layanan] = services.data.data_layanan
  const accounts = await scan<{ idcustomer: number }[]>(
    `transaksi/get_epayment/${world.idowner}`,
    undefined,
    token,
  )
  const [account] = accounts.data
  if (!layanan || !account) throw new Error('buy: the world needs a service and the customer a balance')
  const nota = newNota()
  const answer = await scan(
    'transaksi/create_snap_transaksi',
    {
      id: nota,
      idcustomer: account.idcustomer,
      idmesin,
      idoutlet: world.idoutlet,
      idsnap_layanan: layanan.id,
      total: layanan.harga,
      grandtotal: layanan.harga,
    },
    token,
  )
  return { nota, answer }
}
