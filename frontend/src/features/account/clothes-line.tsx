import { SpareRoom } from '@/shared/ui/spare-room'
import pens from '@/shared/ui/spare-room.module.css'
import styles from './akun-page.module.css'

export function ClothesLine() {
  return (
    <SpareRoom>
      <svg
        className={styles.line}
        viewBox="0 0 358 106"
        fill="none"
        strokeWidth="1.600"
        strokeLinejoin="round"
        aria-hidden="true"
      >
        <g className={pens.body}>
          <path d="M0 1Q179 24 358 1" fill="none" strokeLinecap="round" />
          <path d="M56 8l-4 4-20 10 8 15 9-4v44h42V33l9 4 8-15-20-10-4-3q-14 7-28-1z" />
          <path d="M150 13h58v66h-58z" />
          <path d="M252 11h48l6 70h-20l-10-42-8 42h-22z" />
        </g>
        <path className={pens.water} d="M150 61h58M150 68h58" />
        <path className={styles.pegs} d="M56 3v11M88 6v11M158 7v12M200 7v12M258 5v12M294 3v12" />
        <path className={pens.ground} d="M20 103h30M110 103h60M230 103h15M290 103h48" />
      </svg>
    </SpareRoom>
  )
}
