import { chromiumArgs, findChromium } from '../../scripts/chromium.mjs'

export const CHROMIUM = findChromium()
export const CHROMIUM_ARGS = chromiumArgs()
