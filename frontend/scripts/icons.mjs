// usage: npm run icons
// Draws the app's icons from the one drawing below into public/.
import { mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { chromium } from '@playwright/test'
import { chromiumArgs, findChromium } from './chromium.mjs'

const PUBLIC = new URL('../public/', import.meta.url)
const CANVAS = 64
const INDIGO = '#1B2F6B'

/** The porthole with its water: the ring white, the water turmeric. */
const PORTHOLE = `<circle cx="32" cy="32" r="19" fill="none" stroke="#fff" stroke-width="5"/><path d="M17.5 33c5-4 9.5-4 14.5 0s9.5 4 14.5 0a14.5 14.5 0 0 1-29 0z" fill="#F2B01E"/>`

/** `corner`: radius of the ground; `scale`: size of the porthole, so that a mask of any shape does not cut it. */
function drawing({ corner, scale = 1 }) {
  const shift = (CANVAS / 2) * (1 - scale)
  const porthole =
    scale === 1 ? PORTHOLE : `<g transform="translate(${shift} ${shift}) scale(${scale})">${PORTHOLE}</g>`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${CANVAS} ${CANVAS}"><rect width="${CANVAS}" height="${CANVAS}" rx="${corner}" fill="${INDIGO}"/>${porthole}</svg>\n`
}

const ROUND = drawing({ corner: 16 })
/** Phones cut these to their own shape: ground to the edge, drawing within the middle 80 %. */
const MASKABLE = drawing({ corner: 0, scale: 0.9 })

const pictures = [
  { file: 'icons/icon-192.png', svg: ROUND, size_px: 192 },
  { file: 'icons/icon-512.png', svg: ROUND, size_px: 512 },
  { file: 'icons/maskable-192.png', svg: MASKABLE, size_px: 192 },
  { file: 'icons/maskable-512.png', svg: MASKABLE, size_px: 512 },
  { file: 'icons/apple-touch-icon.png', svg: MASKABLE, size_px: 180 },
]

await mkdir(new URL('icons/', PUBLIC), { recursive: true })
await writeFile(new URL('favicon.svg', PUBLIC), ROUND)

const browser = await chromium.launch({ executablePath: findChromium(), args: chromiumArgs() })
try {
  const page = await browser.newPage()
  for (const { file, svg, size_px } of pictures) {
    await page.setViewportSize({ width: size_px, height: size_px })
    await page.setContent(`<body style="margin:0">${svg.replace('<svg ', `<svg width="${size_px}" `)}`)
    await page.screenshot({ path: fileURLToPath(new URL(file, PUBLIC)), omitBackground: true })
    console.log(file)
  }
} finally {
  await browser.close()
}
