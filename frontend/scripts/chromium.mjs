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

function onPath(names, { PATH = '' }) {
  const folders = PATH.split(delimiter).filter(Boolean)
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(runs)
}

/** The system's Chromium: `CHROMIUM_PATH`, else the first one on the PATH. No browser is ever downloaded. */
export function findChromium(env = process.env) {
  if (env.CHROMIUM_PATH) return env.CHROMIUM_PATH
  const found = onPath(NAMES, env)
  if (!found)
    throw new Error(`No Chromium on the PATH (${NAMES.join(', ')}); install one or set CHROMIUM_PATH`)
  return found
}

/**
 * Chromium's headless shell, which needs a third less CPU time: it has no user interface, and no push messages. Without one on the PATH,
 * the whole browser.
 */
export const findHeadlessShell = (env = process.env) =>
  onPath(['chromium-headless-shell'], env) ?? findChromium(env)

/** Root, as in a container, may only run it without its sandbox. */
export function chromiumArgs() {
  return process.getuid?.() === 0 ? ['--no-sandbox'] : []
}
