import type { ComponentType, ReactNode } from 'react'
import { PANEL } from '@/shared/lib/free-place'
import styles from './dialog.module.css'

export interface PanelProps {
  /** It gives way to no finger. */
  locked: boolean
  onClose: () => void
  children: ReactNode
}

/** Marks the part of a sheet by which it can be pulled whatever lies below. */
export const GRIP = { 'data-grip': true } as const

/** What a sheet is drawn on. This one stands still. */
function StillPanel({ children }: PanelProps) {
  return (
    <div className={styles.panel} {...PANEL}>
      {children}
    </div>
  )
}

let present: ComponentType<PanelProps> = StillPanel

/** Where there is no bottom to pull it to, it stands still. */
const CENTRED = '(min-width: 720px)'

/** What a sheet that opens now is drawn on. */
export const panel = () => (matchMedia(CENTRED).matches ? StillPanel : present)

/** Sheets that open from now on are drawn on this one. */
export function setPanel(next: ComponentType<PanelProps>): void {
  present = next
}
