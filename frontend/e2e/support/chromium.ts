import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** The system's Chromium: `CHROMIUM_PATH` in the environment, else the first one on PATH. None is ever downloaded. */
function find(): string {
  if (process.env.CHROMIUM_PATH) return process.env.CHROMIUM_PATH
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    for (const name of NAMES) {
      const file = join(folder, name)
      try {
        accessSync(file, constants.X_OK)
        return file
      } catch {
        // Not here.
      }
    }
  }
  throw new Error(
    `No Chromium on PATH (looked for ${NAMES.join(', ')}). Install it, e.g. \`apt-get install chromium\`.`,
  )
}

export const CHROMIUM = find()
/** Root, as in a container, may only run it without its sandbox. */
export const CHROMIUM_ARGS = process.getuid?.() === 0 ? ['--no-sandbox'] : []
