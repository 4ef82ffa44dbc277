type Size = readonly [width: number, height: number]

/** `make phones` looks at each screen in all sizes, and on all phones. */
export const ALL_SIZES = process.env.PHONES === 'all'

/** A phone in the hand and a tablet on its side: `make test` has time for these. */
const COMMON: readonly Size[] = [
  [390, 844],
  [1024, 600],
]
/** The smallest phone, a tablet held upright, a laptop, and the screen on a wall. */
const OTHERS: readonly Size[] = [
  [320, 568],
  [768, 1024],
  [1366, 768],
  [1920, 1080],
]

/** The sizes at which a screen is looked at. */
export const SIZES = ALL_SIZES ? [...COMMON, ...OTHERS] : COMMON
