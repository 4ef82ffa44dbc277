/**
 * A QR code (ISO/IEC 18004, byte mode, level M) for a short address: rows of modules, true is dark. Versions 1 to 6, whose blocks are
 * all of one length; null for a longer text.
 */
export function qrCode(text: string): boolean[][] | null {
  const bytes = new TextEncoder().encode(text)
  const version = VERSIONS.findIndex(({ data }) => bytes.length + 2 <= data)
  const found = VERSIONS[version]
  if (!found) return null
  return draw(version + 1, interleave(codewords(bytes, found.data), found))
}

interface Version {
  /** Codewords of data, in all blocks together. */
  data: number
  /** Codewords of error correction in each block. */
  correction: number
  blocks: number
}

/** Level M of versions 1 to 6 (tables 7 and 9). */
const VERSIONS: Version[] = [
  { data: 16, correction: 10, blocks: 1 },
  { data: 28, correction: 16, blocks: 1 },
  { data: 44, correction: 26, blocks: 1 },
  { data: 64, correction: 18, blocks: 2 },
  { data: 86, correction: 24, blocks: 2 },
  { data: 108, correction: 16, blocks: 4 },
]

/** Byte mode, the length, the text, four zero bits, and padding. */
function codewords(bytes: Uint8Array, length: number): number[] {
  const nibbles = [4, bytes.length >> 4, bytes.length & 15, ...[...bytes].flatMap((b) => [b >> 4, b & 15]), 0]
  const words: number[] = []
  for (let i = 0; i < nibbles.length; i += 2) words.push(((nibbles[i] ?? 0) << 4) | (nibbles[i + 1] ?? 0))
  for (let pad = 0xec; words.length < length; pad ^= 0xec ^ 0x11) words.push(pad)
  return words
}

function interleave(words: number[], { blocks, correction }: Version): number[] {
  const each = words.length / blocks
  const texts = Array.from({ length: blocks }, (_, i) => words.slice(i * each, (i + 1) * each))
  const divisor = generator(correction)
  const corrections = texts.map((block) => remainder(block, divisor))
  return [...columns(texts), ...columns(corrections)]
}

const columns = (rows: number[][]): number[] =>
  (rows[0] ?? []).flatMap((_, column) => rows.map((row) => row[column] ?? 0))

/** Product in the field of 256 elements of the standard. */
function times(a: number, b: number): number {
  let product = 0
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ ((product >> 7) * 0x11d)
    if ((b >> bit) & 1) product ^= a
  }
  return product
}

/** The Reed-Solomon generator of this degree, without its leading one. */
function generator(degree: number): number[] {
  const terms = [...new Array<number>(degree - 1).fill(0), 1]
  let root = 1
  for (let i = 0; i < degree; i++) {
    for (let j = 0; j < degree; j++) terms[j] = times(terms[j] ?? 0, root) ^ (terms[j + 1] ?? 0)
    root = times(root, 2)
  }
  return terms
}

function remainder(block: number[], divisor: number[]): number[] {
  const rest = new Array<number>(divisor.length).fill(0)
  for (const word of block) {
    const factor = word ^ (rest.shift() ?? 0)
    rest.push(0)
    for (const [i, term] of divisor.entries()) rest[i] = (rest[i] ?? 0) ^ times(term, factor)
  }
  return rest
}

/** Readers accept any of the eight masks; this one, alternating rows, is good enough for an address. */
const isMasked = (y: number) => y % 2 === 0
/** Level M with that mask, number 1, with its correction (table C.1). */
const FORMAT = 0b101000100100101

function draw(version: number, words: number[]): boolean[][] {
  const size = 17 + 4 * version
  const dark = Array.from({ length: size }, () => new Array<boolean>(size).fill(false))
  const fixed = Array.from({ length: size }, () => new Array<boolean>(size).fill(false))
  const put = (x: number, y: number, isDark: boolean) => {
    const [colours, known] = [dark[y], fixed[y]]
    if (!colours || !known || x < 0 || x >= size) return
    colours[x] = isDark
    known[x] = true
  }

  for (let i = 0; i < size; i++) {
    put(6, i, i % 2 === 0)
    put(i, 6, i % 2 === 0)
  }
  for (const [cx, cy] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const)
    rings(4, (dx, dy, far) => put(cx + dx, cy + dy, far !== 2 && far !== 4))
  const corner = size - 7
  if (version > 1) rings(2, (dx, dy, far) => put(corner + dx, corner + dy, far !== 1))

  for (let i = 0; i < 15; i++) {
    const bit = ((FORMAT >> i) & 1) === 1
    // Around the upper left corner, past the timing lines, and again along the other two.
    if (i < 6) put(8, i, bit)
    else if (i < 8) put(8, i + 1, bit)
    else if (i === 8) put(7, 8, bit)
    else put(14 - i, 8, bit)
    if (i < 8) put(size - 1 - i, 8, bit)
    else put(8, size - 15 + i, bit)
  }
  put(8, size - 8, true)

  let at = 0
  for (const [x, y] of path(size)) {
    if (fixed[y]?.[x]) continue
    // A few modules after the last codeword carry no data.
    const bit = (((words[at >> 3] ?? 0) >> (7 - (at & 7))) & 1) === 1
    at += 1
    const row = dark[y]
    if (row) row[x] = bit !== isMasked(y)
  }
  return dark
}

/** All modules up to `reach` around a centre, with the distance of their ring. */
function rings(reach: number, each: (dx: number, dy: number, far: number) => void): void {
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) each(dx, dy, Math.max(Math.abs(dx), Math.abs(dy)))
  }
}

/** Places of the codewords: two columns at a time from the right, alternating up and down, past the timing column. */
function* path(size: number): Generator<[number, number]> {
  let up = true
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5
    for (let i = 0; i < size; i++) {
      const y = up ? size - 1 - i : i
      yield [right, y]
      yield [right - 1, y]
    }
    up = !up
  }
}
