import type { Counted } from '@/till/api/types'

/** Values of the notes in rupiah, largest first; coins are counted by their sum. */
const NOTES = [100_000, 50_000, 20_000, 10_000, 5_000, 2_000, 1_000] as const

export const COINS = 'koin'

/** Names as in the server's API. */
export const PIECES = [...NOTES.map(String), COINS]

/** Rupiah: the server's limit for a drawer. */
export const MAX_IN_DRAWER = 1_000_000_000

/** A missing key means zero. */
export type Count = Readonly<Record<string, number>>

export const EMPTY: Count = {}

/** The largest number that a drawer could hold; for coins, rupiah. */
const MAX_COUNT = { notes: 9_999, coins: 9_999_999 }
/** The commonest coin. */
const COIN_STEP = 500

export const isCoins = (piece: string) => piece === COINS
export const many = (count: Count, piece: string): number => count[piece] ?? 0
export const mostOf = (piece: string): number => (isCoins(piece) ? MAX_COUNT.coins : MAX_COUNT.notes)

/** Rupiah of a row. */
export const worth = (count: Count, piece: string): number =>
  many(count, piece) * (isCoins(piece) ? 1 : Number(piece))

export const total = (count: Count): number => PIECES.reduce((sum, piece) => sum + worth(count, piece), 0)

/** Never below zero, nor above what a drawer could hold. */
export function put(count: Count, piece: string, number: number): Count {
  const whole = Number.isFinite(number) ? Math.trunc(number) : 0
  return { ...count, [piece]: Math.min(mostOf(piece), Math.max(0, whole)) }
}

/** One note or coin more (`by` 1) or less (`by` -1). */
export const step = (count: Count, piece: string, by: 1 | -1): Count =>
  put(count, piece, many(count, piece) + by * (isCoins(piece) ? COIN_STEP : 1))

export const counted = (count: Count): Counted => ({
  dihitung: total(count),
  pecahan: Object.fromEntries(PIECES.map((piece) => [piece, many(count, piece)])),
})

export const nextPiece = (piece: string): string | null => PIECES[PIECES.indexOf(piece) + 1] ?? null
