import { type Answer, type Customer, scan, type World } from './api.ts'

const JAKARTA_MS = 7 * 60 * 60 * 1000
let last = 0

/** A receipt number that no purchase has yet, in the app's format: `SLF` and the moment in Jakarta, yymmddHHMMSSmmm. */
export function newReceiptNumber(): string {
  last = Math.max(Date.now(), last + 1)
  return `SLF${new Date(last + JAKARTA_MS).toISOString().slice(2).replace(/\D/g, '')}`
}

interface Service {
  id: number
  harga: number
}

/** Makes a purchase as the app would, without the screens; the answer may be a refusal. */
export async function buy(
  customer: Customer,
  world: World,
  idmesin = world.machine.id,
): Promise<{ receiptNumber: string; answer: Answer<unknown> }> {
  const { token } = customer
  const services = await scan<{ data_layanan: Service[] }>(
    'transaksi/get_layanan',
    { qr: world.machine.kode, limit: 1, skip: 0, search: '' },
    token,
  )
  const [service] = services.data.data_layanan
  const accounts = await scan<{ idcustomer: number }[]>(
    `transaksi/get_epayment/${world.idowner}`,
    undefined,
    token,
  )
  const [account] = accounts.data
  if (!service || !account) throw new Error('buy: the world needs a service and the customer a balance')
  const receiptNumber = newReceiptNumber()
  const answer = await scan(
    'transaksi/create_snap_transaksi',
    {
      id: receiptNumber,
      idcustomer: account.idcustomer,
      idmesin,
      idoutlet: world.idoutlet,
      idsnap_layanan: service.id,
      total: service.harga,
      grandtotal: service.harga,
    },
    token,
  )
  return { receiptNumber, answer }
}
