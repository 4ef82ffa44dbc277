// usage: npm run budgets
// Reads the builds (dist/, dist/kasir/) and fails when a screen costs more than a weak phone on a weak network should pay.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  dashboardAdds,
  decoder,
  firstVisit,
  fonts,
  pageAdds,
  pageStyles,
  readBuild,
  scanAdds,
  startScripts,
  styles,
  tillAdds,
  tillStyles,
} from './build-size.mjs'

/** Kilobytes (1000 bytes) as they are shipped (build-size.mjs). */
const KB = 1000

const dist = fileURLToPath(new URL('../dist/', import.meta.url))
const till = join(dist, 'kasir')
for (const folder of [dist, till]) {
  if (existsSync(join(folder, '.vite/manifest.json'))) continue
  console.error(`budgets: ${folder} holds no build; run \`npm run build\` first`)
  process.exit(1)
}

const build = readBuild(dist)
const tillBuild = readBuild(till)
const visit = firstVisit(build)
const page = (key, name, scripts, sheets) => [
  { what: `JavaScript of ${name}`, value: pageAdds(tillBuild, key) / KB, limit: scripts, unit: 'kB' },
  { what: `style sheets of ${name}`, value: pageStyles(tillBuild, key) / KB, limit: sheets, unit: 'kB' },
]
const rows = [
  { what: 'JavaScript of / and /login', value: startScripts(build) / KB, limit: 120, unit: 'kB' },
  { what: 'JavaScript the dashboard adds', value: dashboardAdds(build) / KB, limit: 44, unit: 'kB' },
  { what: 'JavaScript the scanner adds', value: scanAdds(build) / KB, limit: 11.5, unit: 'kB' },
  { what: 'style sheets, all together', value: styles(build) / KB, limit: 18, unit: 'kB' },
  { what: 'font files', value: fonts(build).length, limit: 1, unit: '' },
  { what: 'the font file', value: Math.max(...fonts(build)) / KB, limit: 28, unit: 'kB' },
  { what: 'first visit, everything', value: visit.bytes / KB, limit: 170, unit: 'kB' },
  { what: 'first visit, requests', value: visit.requests, limit: 12, unit: '' },
  { what: 'JavaScript of the till', value: startScripts(tillBuild) / KB, limit: 120, unit: 'kB' },
  // The till's other screens and the realtime client, fetched once the till is shown.
  { what: 'JavaScript the till adds', value: tillAdds(tillBuild) / KB, limit: 40, unit: 'kB' },
  // Fetched only by a browser that does not read codes itself.
  { what: 'the decoder of the till', value: decoder(tillBuild) / KB, limit: 17, unit: 'kB' },
  { what: 'style sheets of the till', value: tillStyles(tillBuild) / KB, limit: 13, unit: 'kB' },
  ...page('board', 'the board', 40, 4),
  ...page('attention', 'what needs a person', 8, 2),
  // What the till needs besides a sale in cash; fetched once it is shown.
  ...page('money', 'QRIS, payouts and moves', 8, 2),
  // Fetched only for those who may manage.
  ...page('management', 'the management', 40, 4),
  ...page('morning', "the morning's figures", 40, 4),
  ...page('alerts', 'the alerts', 5, 2),
]

let broken = 0
for (const { what, value, limit, unit } of rows) {
  const over = value > limit
  if (over) broken += 1
  const shown = unit ? value.toFixed(1) : String(value)
  console.log(
    `${over ? 'OVER' : 'ok  '}  ${what.padEnd(36)} ${shown.padStart(6)} of ${limit} ${unit}`.trimEnd(),
  )
}
if (broken > 0) {
  console.error(`budgets: ${broken} over; load later what a screen does not need at once, or leave it out`)
  process.exit(1)
}
