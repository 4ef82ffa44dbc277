import { findChromium } from '../../scripts/chromium.mjs'

export const CHROMIUM: string = findChromium()
/** Root, as in a container, may only run it without its sandbox. */
export const CHROMIUM_ARGS = process.getuid?.() === 0 ? ['--no-sandbox'] : []
