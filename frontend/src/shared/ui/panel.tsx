import type { ComponentType, ReactNode } from 'react'
import styles from './dialog.module.css'

export interface PanelProps {
  /** The panel does not follow a finger. */
  locked: boolean
  onClose: () => void
  children: ReactNode
}

/** Marks the part of a sheet by which it can always be pulled. */
export const GRIP = { 'data-grip': true } as const

/** The panel of a sheet; this one does not move. */
function StillPanel({ children }: PanelProps) {
  return (
    <div className={styles.panel} data-panel>
      {children}
    </div>
  )
}

let present: ComponentType<PanelProps> = StillPanel

/** A centred sheet cannot be pulled, because it has no bottom edge to go to. */
const CENTRED = '(min-width: 720px)'

/** The panel for a sheet that opens now. */
export const panel = () => (matchMedia(CENTRED).matches ? StillPanel : present)

/** Sets the panel for sheets that open from now on. */
export function setPanel(next: ComponentType<PanelProps>): void {
  present = next
}
