import { copy } from '@/shared/copy/copy'
import { signedRupiah } from '@/shared/lib/text/format'
import { lastOf } from '@/shared/lib/text/last-of'
import type { Receipt } from './receipt'

// A receipt as a picture of 720 px, always light: it is viewed in other apps.
const WIDTH = 720
const MARGIN = 56
const LINE = 56
const HEAD = 288
const FOOT = 96
const TOOTH = 16
const FONT = '"Plus Jakarta Sans Variable", system-ui, sans-serif'
const INK = '#16202b'
const SOFT = '#4a5665'
const PAPER = '#ffffff'
const AROUND = '#edebe4'
const INDIGO = '#27408b'

/** The receipt as plain text. */
export function receiptText(title: string, { total, lines }: Receipt): string {
  const all = [[total.label, signedRupiah(total.value)], ...lines]
  return [`${copy.brand} - ${title}`, ...all.map(([label, value]) => `${label}: ${value}`)].join('\n')
}

/** Draws the receipt; fails where there is no canvas to draw on. */
export async function drawReceipt(title: string, receipt: Receipt): Promise<File> {
  await document.fonts?.ready
  const canvas = document.createElement('canvas')
  const paper = canvas.getContext('2d')
  if (!paper) throw new Error('there is no canvas')
  const values = receipt.lines.map(([, value]) => wrapped(paper, value))
  canvas.width = WIDTH
  canvas.height = HEAD + values.reduce((sum, rows) => sum + rows.length, 0) * LINE + FOOT

  paper.fillStyle = AROUND
  paper.fillRect(0, 0, WIDTH, canvas.height)
  drawPaper(paper, canvas.height)
  const write = (
    text: string,
    x: number,
    y: number,
    font: string,
    colour: string,
    align: CanvasTextAlign,
  ) => {
    paper.font = `${font} ${FONT}`
    paper.fillStyle = colour
    paper.textAlign = align
    paper.fillText(text, x, y, WIDTH * 0.62)
  }
  write(copy.brand, MARGIN, 96, '800 36px', INDIGO, 'left')
  write(title, WIDTH - MARGIN, 96, '700 28px', SOFT, 'right')
  write(receipt.total.label, MARGIN, 164, '500 28px', SOFT, 'left')
  write(signedRupiah(receipt.total.value), MARGIN, 228, '800 56px', INK, 'left')
  let y = HEAD + 16
  receipt.lines.forEach(([label], i) => {
    write(label, MARGIN, y, '500 28px', SOFT, 'left')
    for (const row of values[i] ?? []) {
      write(row, WIDTH - MARGIN, y, '600 28px', INK, 'right')
      y += LINE
    }
  })

  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/png'))
  if (!blob) throw new Error('the canvas gave no picture')
  return new File([blob], 'struk-nyala.png', { type: 'image/png' })
}

/** A sheet of paper with a torn lower edge. */
function drawPaper(paper: CanvasRenderingContext2D, height: number): void {
  const [left, right, top, bottom] = [24, WIDTH - 24, 24, height - 40]
  paper.fillStyle = PAPER
  paper.beginPath()
  paper.moveTo(left, top)
  paper.lineTo(right, top)
  paper.lineTo(right, bottom)
  for (let x = right, down = true; x > left; x -= TOOTH, down = !down) {
    paper.lineTo(Math.max(left, x - TOOTH), down ? bottom + TOOTH : bottom)
  }
  paper.lineTo(left, bottom)
  paper.fill()
}

/** Breaks a text into rows that leave room for the label before them. */
function wrapped(paper: CanvasRenderingContext2D, text: string): string[] {
  paper.font = `600 28px ${FONT}`
  const rows: string[] = []
  for (const word of text.split(' ')) {
    const longer = [lastOf(rows), word].filter(Boolean).join(' ')
    if (rows.length > 0 && paper.measureText(longer).width > WIDTH * 0.56) rows.push(word)
    else rows.splice(Math.max(0, rows.length - 1), 1, longer)
  }
  return rows
}
