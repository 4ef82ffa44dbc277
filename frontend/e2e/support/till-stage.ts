import type { Page } from '@playwright/test'
import { type Customer, newCustomer, ops, topUp } from './api.ts'
import { buy } from './buy.ts'
import { callAt, enterTill, openShift, readyShop, type Shop } from './till.ts'

export interface Stage {
  shop: Shop
  /** A customer with Rp 35.000, who has bought nothing in this shift. */
  siti: Customer
}

/** A shop in the middle of its day: packages, a shift with sales of every kind, one of them reversed, and a machine that was used. */
export async function stageTill(page: Page): Promise<Stage> {
  const shop = await readyShop(page, {
    outlet: 'Laundry Melati',
    device: 'tablet kasir depan',
    names: { rina: 'Rina', tono: 'Tono', hadi: 'Pak Hadi' },
    services: [{ nama: 'Cuci Kilat', durasi: 600, harga: 8_000 }],
  })
  const { idoutlet, world } = shop
  const session = await openShift(shop)
  const hemat = { idoutlet, nama: 'Paket Hemat', harga: 100_000, quota: 110_000 }
  const { idpaket } = await ops<{ idpaket: number }>('paket', hemat)
  await ops('paket', { idoutlet, nama: 'Paket Keluarga', harga: 200_000, quota: 225_000 })

  const sell = (telp: string, nominal: number, cara_bayar: string, more = {}) =>
    callAt<{ idpembelian_emoney: string }>(
      page,
      'topup',
      { telp: `0${telp}`, idoutlet, nominal, cara_bayar, ...more },
      session.token,
    )
  const dewi = await newCustomer('Dewi Kartika')
  const wrong = await sell(dewi.telp, 500_000, 'qris', { ref_bayar: '7K2P' })
  await ops(`topup/${wrong.idpembelian_emoney}/batal`, { alasan: 'Salah jumlah' })
  const joko = await newCustomer('Joko Prasetyo')
  await sell(joko.telp, 20_000, 'tunai')
  const ani = await newCustomer('Ani Wulandari')
  await sell(ani.telp, hemat.harga, 'qris', { idpaket, ref_bayar: 'A1B2' })
  const budi = await newCustomer('Budi Santoso')
  await sell(budi.telp, 100_000, 'tunai')
  await buy(budi, world)

  const siti = await newCustomer('Siti Rahma')
  await topUp(siti, idoutlet, 15_000)
  await topUp(siti, idoutlet, 20_000)
  await enterTill(shop, session)
  return { shop, siti }
}
