import type { AkunEpay, QrisOutlet } from '@/shared/api/model'

/** Outlets that are shown at the same time. */
const SHOWN = 6

/** The customer's own outlets first, in the server's order. */
export function ownFirst(outlets: readonly QrisOutlet[], accounts: readonly AkunEpay[]): QrisOutlet[] {
  const own = new Set(accounts.map(({ outlet }) => outlet?.idoutlet))
  const isOwn = ({ idoutlet }: QrisOutlet) => own.has(idoutlet)
  return [...outlets.filter(isOwn), ...outlets.filter((outlet) => !isOwn(outlet))]
}

/** The one that needs no choice: the only one, or the only one with an account. */
export function givenOutlet(outlets: readonly QrisOutlet[], accounts: readonly AkunEpay[]): number | null {
  const own = outlets.filter(({ idoutlet }) => accounts.some(({ outlet }) => outlet?.idoutlet === idoutlet))
  const [first, second] = own.length > 0 ? own : outlets
  return first && !second ? first.idoutlet : null
}

/** A long list is searched by name or city. */
export const isLong = (outlets: readonly QrisOutlet[]): boolean => outlets.length > SHOWN

/** The first outlets that match what was typed, and the chosen one. */
export function shownOutlets(
  outlets: readonly QrisOutlet[],
  typed: string,
  chosen: number | null,
): QrisOutlet[] {
  const wanted = typed.trim().toLowerCase()
  const found = outlets.filter(({ nama, kota }) => `${nama} ${kota}`.toLowerCase().includes(wanted))
  const first = found.slice(0, SHOWN)
  const missing = outlets.filter((one) => one.idoutlet === chosen && !first.includes(one))
  return [...missing, ...first]
}
