import { SpareRoom } from '@/shared/ui/spare-room'
import pens from '@/shared/ui/spare-room.module.css'
import styles from './pilih-epay-page.module.css'

/** A drawing of the machine that waits for its payment. */
export function MachineDrawing() {
  return (
    <SpareRoom>
      <svg
        className={styles.drawing}
        viewBox="0 0 206 160"
        fill="none"
        strokeWidth="1.600"
        strokeLinecap="round"
        aria-hidden="true"
      >
        <path className={pens.ground} d="M3 154h200" />
        <g className={pens.body}>
          <rect x="43" y="2" width="120" height="150" rx="14" />
          <path d="M43 34h120" />
          <rect x="56" y="14" width="30" height="8" rx="4" />
          <circle cx="146" cy="18" r="5" />
          <circle cx="103" cy="94" r="44" />
          <circle cx="103" cy="94" r="34" />
        </g>
        <path
          className={pens.water}
          d="M73 94q7.500-6 15 0t15 0 15 0 15 0M76 106q7-5 13.500 0t13.500 0 13.500 0 13.500 0"
        />
      </svg>
    </SpareRoom>
  )
}
