import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Box, SIDES } from './measure.ts'

/** Two measurements of one box differ by this much at most, px; a step of the grid is 4. */
const TOLERANCE = 3
/** A side that a font moves by more than this does not belong to the layout. */
const STABLE = 1

const fileOf = (name: string) => join(import.meta.dirname, `${name}.txt`)

/** The part that is the same in every font: the sides that no font moves, in whole pixels. */
export function whatStays([first = [], ...others]: Box[][]): Box[] {
  for (const other of others) {
    const names = (boxes: Box[]) => boxes.map(({ name }) => name).join('\n')
    if (names(first) !== names(other)) throw new Error('a font changes what is on the screen')
  }
  return first.map((box, i) => ({
    ...box,
    sides: Object.fromEntries(
      SIDES.flatMap((side) => {
        const value = box.sides[side]
        if (value === undefined) return []
        const moves = others.some((other) => Math.abs((other[i]?.sides[side] ?? Number.NaN) - value) > STABLE)
        return moves ? [] : [[side, Math.round(value)]]
      }),
    ),
  }))
}

const outlineLine = ({ depth, name, sides }: Box) =>
  `${'  '.repeat(depth)}${name}${SIDES.map((side) => (sides[side] === undefined ? '' : ` ${side}=${sides[side]}`)).join('')}`

export const keep = (name: string, boxes: Box[]) =>
  writeFileSync(fileOf(name), `${boxes.map(outlineLine).join('\n')}\n`)

function read(name: string): Box[] {
  if (!existsSync(fileOf(name))) throw new Error(`${fileOf(name)} is missing: npm run layout`)
  return readFileSync(fileOf(name), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [, indent = '', what = '', sides = ''] = /^( *)(.*?)((?: [a-z]+=-?\d+)*)$/.exec(line) ?? []
      const pairs = sides.trim().split(' ').filter(Boolean)
      return {
        depth: indent.length / 2,
        name: what,
        sides: Object.fromEntries(pairs.map((pair) => [pair.split('=')[0], Number(pair.split('=')[1])])),
      }
    })
}

/** The differences between the measured boxes and the stored baseline, one per line; empty when nothing differs. */
export function differences(name: string, boxes: Box[]): string[] {
  const kept = read(name)
  const outline = (all: Box[]) => all.map((box) => outlineLine({ ...box, sides: {} }))
  const [before, now] = [outline(kept), outline(boxes)]
  const gone = before.filter((line) => !now.includes(line)).map((line) => `gone: ${line.trim()}`)
  const added = now.filter((line) => !before.includes(line)).map((line) => `new: ${line.trim()}`)
  if (gone.length + added.length > 0) return [...gone, ...added]
  if (before.join('\n') !== now.join('\n')) return ['the same things in another order']
  return kept.flatMap((box, i) =>
    SIDES.flatMap((side) => {
      const [was, is] = [box.sides[side], boxes[i]?.sides[side] ?? Number.NaN]
      // The condition is written so that values that cannot be compared count as different.
      if (was === undefined || Math.abs(is - was) <= TOLERANCE) return []
      return [`${box.name}: ${side} is ${Math.round(is)}, was ${was}`]
    }),
  )
}
