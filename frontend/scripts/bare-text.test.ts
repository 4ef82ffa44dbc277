import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { bareTexts } from './bare-text.mjs'

const frontend = process.cwd()
const folder = join(frontend, 'node_modules/.cache/bare-text')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What is found in a component that draws this. */
function inside(drawn: string): string[] {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'drawn.tsx')
  const config = join(folder, 'tsconfig.json')
  const head =
    "import type { ReactNode } from 'react'\nconst Words = ({ children }: { children: ReactNode }) => children\n"
  writeFileSync(
    file,
    `${head}export const Drawn = ({ text, on }: { text: string; on: boolean }) => (<p>{on && text}<Words>{text}</Words></p>)\nexport const It = ({ text, on, count }: { text: string; on: boolean; count: number }) => (${drawn})\n`,
  )
  writeFileSync(
    config,
    JSON.stringify({ extends: join(frontend, 'tsconfig.app.json'), include: ['drawn.tsx'], exclude: [] }),
  )
  return bareTexts(config, (path) => path === file).filter((place) => !place.includes('drawn.tsx:3'))
}

describe('text that a translated page would lose', { timeout: 120_000 }, () => {
  it.each([
    ['that changes beside an element', '<p>{text} <b>fixed</b></p>'],
    ['that changes beside other text', '<p>Sisa {count} menit</p>'],
    ['that comes and goes', '<p>{on && text}<b>fixed</b></p>'],
    ['before which something comes', '<p>{on && <b>icon</b>}Selesai</p>'],
    ['in a fragment', '<p><>{text}</></p>'],
    ['of a component that draws nothing else', '<p><Words>{text}</Words></p>'],
  ])('%s is found', (_, drawn) => {
    expect(inside(drawn)).not.toEqual([])
  })

  it.each([
    ['alone in its element', '<p>{on ? text : null}</p>'],
    ['in an element of its own', '<p><span>{text}</span> <b>{count}</b></p>'],
    ['that never changes beside what never does', '<p>Sisa <b>{count}</b></p>'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the source of a component
    ['put together to one', '<p>{`Sisa ${count} menit`}</p>'],
  ])('%s is fine', (_, drawn) => {
    expect(inside(drawn)).toEqual([])
  })

  it('is nowhere in the app and the till', () => {
    const tests = /\.test\.tsx$|\/fake-[^/]*$/
    expect(bareTexts(join(frontend, 'tsconfig.app.json'), (path) => !tests.test(path))).toEqual([])
  })
})
