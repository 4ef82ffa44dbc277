import { useEffect, useState } from 'react'
import { importAgain } from '@/shared/lib/net/import-again'

/** Loaded when the first code is drawn: most days at a till need none. */
const encoder = importAgain(() => import('uqr'))

/** The quiet zone that readers require, in modules. */
const MARGIN = 4

/** A QR code of level M, dark on white in both themes; a white square until it can be drawn. */
export function Qr({
  text,
  label,
  className,
}: {
  text: string
  label: string
  className?: string | undefined
}) {
  const [rows, setRows] = useState<boolean[][]>([])
  useEffect(() => {
    let left = false
    encoder()
      .then(({ encode }) => !left && setRows(encode(text, { ecc: 'M', border: 0 }).data))
      .catch(() => undefined)
    return () => {
      left = true
    }
  }, [text])
  const side = rows.length + 2 * MARGIN
  const dark = rows.flatMap((row, y) =>
    row.flatMap((is, x) => (is ? [`M${x + MARGIN} ${y + MARGIN}h1v1h-1z`] : [])),
  )
  return (
    <svg
      className={className}
      viewBox={`0 0 ${side} ${side}`}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <rect width={side} height={side} fill="#fff" />
      <path d={dark.join('')} fill="#000" />
    </svg>
  )
}
