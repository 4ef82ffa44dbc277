import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

const runs = (file) => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The system's Chromium: `CHROMIUM_PATH`, else the first one on the PATH. No browser is ever downloaded. */
export function findChromium(env = process.env) {
  if (env.CHROMIUM_PATH) return env.CHROMIUM_PATH
  const folders = (env.PATH ?? '').split(delimiter).filter(Boolean)
  const found = folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(runs)
  if (!found)
    throw new Error(`No Chromium on the PATH (${NAMES.join(', ')}); install one or set CHROMIUM_PATH`)
  return found
}

/** Root, as in a container, may only run it without its sandbox. */
export function chromiumArgs() {
  return process.getuid?.() === 0 ? ['--no-sandbox'] : []
}
