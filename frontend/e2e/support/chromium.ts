import { chromiumArgs, findChromium, findHeadlessShell } from '../../scripts/chromium.mjs'

export const CHROMIUM = findHeadlessShell()
/** For tests of functions that the headless shell lacks. */
export const WHOLE_CHROMIUM = findChromium()
export const CHROMIUM_ARGS = chromiumArgs()
