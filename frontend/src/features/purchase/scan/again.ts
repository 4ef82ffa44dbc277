import type { DataLayanan, LastUse, Layanan } from '@/shared/api/model'
import { isRecord } from '@/shared/lib/storage'
import { getServices } from '../calls'

/** What is to be washed with once more, as the dashboard gives it along to the scanner. */
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
 * That service at the scanned machine, at its present price. Null: this outlet does not have it any more; undefined:
 * it is another outlet's machine, whose services have nothing to do with it.
 */
export async function sameService(
  qr: string,
  found: Layanan,
  again: LastUse,
): Promise<DataLayanan | null | undefined> {
  if (found.data_mesin.outlet.idoutlet !== again.idoutlet) return undefined
  const isSame = ({ id }: DataLayanan) => id === again.idlayanan
  const listed = found.data_layanan.find(isSame)
  // Beyond the first page it is found by its name.
  const named = listed ?? (await getServices({ qr, skip: 0, search: again.nama })).data_layanan.find(isSame)
  return named ?? null
}
