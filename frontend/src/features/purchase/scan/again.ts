import type { DataLayanan, LastUse, Layanan } from '@/shared/api/model'
import { isRecord } from '@/shared/lib/session/storage'
import { getServices } from '../calls'

/** The service to buy again, as the dashboard passes it to the scanner. */
export function readAgain(state: unknown): LastUse | null {
  const again = isRecord(state) ? state.again : null
  return isLastUse(again) ? again : null
}

const isLastUse = (value: unknown): value is LastUse =>
  isRecord(value) &&
  typeof value.idlayanan === 'number' &&
  typeof value.idcustomer === 'number' &&
  typeof value.idoutlet === 'number' &&
  typeof value.nama === 'string'

/**
 * That service at the scanned machine, at its present price. Null: this outlet no longer has it; undefined: the machine belongs to
 * another outlet, whose services are unrelated.
 */
export async function sameService(
  qr: string,
  found: Layanan,
  again: LastUse,
): Promise<DataLayanan | null | undefined> {
  if (found.data_mesin.outlet.idoutlet !== again.idoutlet) return undefined
  const isSame = ({ id }: DataLayanan) => id === again.idlayanan
  const listed = found.data_layanan.find(isSame)
  // A service beyond the first page is found by its name.
  const named = listed ?? (await getServices({ qr, skip: 0, search: again.nama })).data_layanan.find(isSame)
  return named ?? null
}
