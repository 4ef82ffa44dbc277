type Size = readonly [width: number, height: number]

/** `make phones` looks at each screen in all sizes, and on all phones. */
export const ALL_SIZES = process.env.PHONES === 'all'

/** A phone in the hand: the size at which a walk through the screens is made that looks at all sizes. */
export const PHONE = { width: 390, height: 844 }
/** That phone and a tablet on its side: `make test` has time for these. */
const COMMON: readonly Size[] = [
  [PHONE.width, PHONE.height],
  [1024, 600],
]
/** The smallest phone, a tablet held upright, a laptop, and the screen on a wall. */
const OTHERS: readonly Size[] = [
  [320, 568],
  [768, 1024],
  [1280, 800],
  [1920, 1080],
]

/** The sizes at which a screen of the till is looked at. */
export const SIZES = ALL_SIZES ? [...COMMON, ...OTHERS] : COMMON

/** The sizes at which a page for customers is looked at, which is no screen of the stage. */
export const PAGE_SIZES: readonly Size[] = [
  [320, 640],
  [390, 844],
  [768, 1024],
  [1280, 800],
]
