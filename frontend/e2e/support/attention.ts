import { fault, newCustomer, topUp, type World } from './api.ts'
import { buy } from './buy.ts'

/** A machine refuses two starts: that needs a person, until it starts. The returned function starts it. */
export async function refuseTwice(world: World, idmesin = world.machine.id): Promise<() => Promise<void>> {
  const customer = await newCustomer()
  await topUp(customer, world.idoutlet, 50_000)
  await fault(idmesin, 'refuse')
  await buy(customer, world, idmesin)
  await buy(customer, world, idmesin)
  await fault(idmesin, 'ok')
  return async () => void (await buy(customer, world, idmesin))
}
