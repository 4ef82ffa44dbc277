import { useMemo } from 'react'
import { qrCode } from '@/till/lib/qr-code'

/** The quiet zone that readers require, in modules. */
const MARGIN = 4

/** A QR code, dark on white in both themes; nothing for a text that is too long for a code. */
export function Qr({
  text,
  label,
  className,
}: {
  text: string
  label: string
  className?: string | undefined
}) {
  const rows = useMemo(() => qrCode(text), [text])
  if (!rows) return null
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
