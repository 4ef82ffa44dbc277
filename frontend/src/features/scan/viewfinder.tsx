import { CameraOff, Flashlight, FlashlightOff } from 'lucide-react'
import type { ReactNode, RefObject } from 'react'
import { added } from '@/shared/copy/added'
import { Spinner } from '@/shared/ui/spinner'
import type { CameraState } from './use-camera'
import styles from './viewfinder.module.css'

interface Props {
  video: RefObject<HTMLVideoElement | null>
  state: CameraState
  /** The decoder could not be fetched. */
  failed: boolean
  /** A code was read and is being asked for. */
  checking: boolean
  torch: boolean | null
  onTorch: () => void
  onRetry: () => void
}

const words: Record<Exclude<CameraState, 'starting' | 'live'>, [string, string]> = {
  refused: [added.scan.kameraDitolak, added.scan.kameraDitolakIsi],
  missing: [added.scan.kameraTidakAda, added.scan.kameraTidakAdaIsi],
  busy: [added.scan.kameraSibuk, added.scan.kameraSibukIsi],
  insecure: [added.scan.tidakAman, added.scan.tidakAmanIsi],
}

/** What the camera sees, with a frame to aim; or why there is no camera and what to do instead. */
export function Viewfinder({ video, state, failed, checking, torch, onTorch, onRetry }: Props) {
  const live = state === 'live' && !failed
  return (
    <div className={styles.finder}>
      {/* A viewfinder has no sound and nothing to caption. */}
      <video ref={video} className={styles.video} data-live={live || undefined} muted playsInline />
      {live && <Frame />}
      {live && torch !== null && (
        <button
          type="button"
          className={styles.torch}
          aria-pressed={torch}
          aria-label={torch ? added.scan.senterMati : added.scan.senterNyala}
          onClick={onTorch}
        >
          {torch ? <FlashlightOff size={24} aria-hidden /> : <Flashlight size={24} aria-hidden />}
        </button>
      )}
      <div role="status" className={styles.overlay} data-veil={checking || !live || undefined}>
        {checking ? (
          <Waiting text={added.scan.memeriksa} />
        ) : failed ? (
          <Problem title={added.scan.pemindaiGagal} body={added.galat.jaringanIsi} onRetry={onRetry} />
        ) : state === 'starting' ? (
          <Waiting text={added.scan.bukaKamera} />
        ) : state !== 'live' ? (
          <Problem
            title={words[state][0]}
            body={words[state][1]}
            {...(state === 'insecure' ? {} : { onRetry })}
          />
        ) : null}
      </div>
    </div>
  )
}

function Waiting({ text }: { text: string }) {
  return (
    <>
      <Spinner large />
      {text}
    </>
  )
}

function Problem({ title, body, onRetry }: { title: string; body: string; onRetry?: () => void }): ReactNode {
  return (
    <>
      <CameraOff size={36} aria-hidden />
      <strong className={styles.problem}>{title}</strong>
      <span>{body}</span>
      {onRetry && (
        <button type="button" className={styles.retry} onClick={onRetry}>
          {added.scan.cobaKameraLagi}
        </button>
      )}
    </>
  )
}

function Frame() {
  return (
    <svg className={styles.frame} viewBox="0 0 200 200" fill="none" aria-hidden="true">
      <path
        d="M4 48V24A20 20 0 0 1 24 4h24M152 4h24a20 20 0 0 1 20 20v24M196 152v24a20 20 0 0 1-20 20h-24M48 196H24a20 20 0 0 1-20-20v-24"
        stroke="#fff"
        strokeWidth="5"
        strokeLinecap="round"
      />
    </svg>
  )
}
