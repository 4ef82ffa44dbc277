import { CameraOff, Flashlight, FlashlightOff, ScanLine } from 'lucide-react'
import type { RefObject } from 'react'
import { camera, common } from '@/shared/copy/common'
import type { Elements } from '@/shared/ui/elements'
import { Spinner } from '@/shared/ui/spinner'
import type { CameraState } from './use-camera'
import type { DecoderState } from './use-decoder'
import styles from './viewfinder.module.css'

interface Props {
  video: RefObject<HTMLVideoElement | null>
  state: CameraState
  /** State of the decoder. */
  decoder: DecoderState
  /** A code was read, and its request is in progress. */
  checking: boolean
  torch: boolean | null
  onTorch: () => void
  onRetry: () => void
  /** Retries to load the decoder. */
  onReload: () => void
  texts: ViewfinderTexts
  className?: string | undefined
}

/** The texts shown instead of a picture: each screen offers another alternative. */
export type ViewfinderTexts = Record<
  | 'checking'
  | 'cameraRefusedBody'
  | 'noCameraBody'
  | 'cameraBusyBody'
  | 'insecureBody'
  | 'scannerSlow'
  | 'scannerFailedBody',
  string
>

function whyNot(state: Exclude<CameraState, 'starting' | 'live'>, texts: ViewfinderTexts): [string, string] {
  if (state === 'refused') return [camera.cameraRefused, texts.cameraRefusedBody]
  if (state === 'missing') return [camera.noCamera, texts.noCameraBody]
  if (state === 'busy') return [camera.cameraBusy, texts.cameraBusyBody]
  return [camera.insecure, texts.insecureBody]
}

/** The camera's picture with a frame to aim, or the reason why there is no camera and what to do instead. */
export function Viewfinder(props: Props) {
  const { video, state, decoder, checking, torch, onTorch, className } = props
  const live = state === 'live' && decoder !== 'failed'
  const reading = live && decoder === 'ready'
  return (
    <div className={[styles.finder, className].filter(Boolean).join(' ')}>
      {/* A viewfinder has no sound and nothing to caption. */}
      <video ref={video} className={styles.video} data-live={live || undefined} muted playsInline />
      {reading && <Frame />}
      {reading && torch !== null && (
        <button
          type="button"
          className={styles.torch}
          aria-pressed={torch}
          aria-label={torch ? camera.torchOff : camera.torchOn}
          onClick={onTorch}
        >
          {torch ? <FlashlightOff size={24} aria-hidden /> : <Flashlight size={24} aria-hidden />}
        </button>
      )}
      <div role="status" className={styles.overlay} data-veil={checking || !live || undefined}>
        <Status {...props} />
      </div>
    </div>
  )
}

/** What the viewfinder waits for, what is wrong, or that it searches for codes. */
function Status(props: Props): Elements {
  const { state, decoder, checking, onRetry, onReload, texts } = props
  if (checking) return <Waiting text={texts.checking} />
  if (state !== 'live' && state !== 'starting') {
    const [title, body] = whyNot(state, texts)
    const retry = state === 'insecure' ? {} : { onRetry, again: camera.retryCamera }
    return <Problem icon={<CameraOff size={36} aria-hidden />} title={title} body={body} {...retry} />
  }
  if (decoder === 'failed') {
    return (
      <Problem
        icon={<ScanLine size={36} aria-hidden />}
        title={camera.scannerFailed}
        body={texts.scannerFailedBody}
        onRetry={onReload}
        again={common.tryAgain}
      />
    )
  }
  if (state === 'starting') return <Waiting text={camera.openingCamera} />
  if (decoder === 'ready') return <span className={styles.searching}>{camera.searching}</span>
  return (
    <div className={styles.loading}>
      <Spinner />
      <span>{decoder === 'slow' ? texts.scannerSlow : camera.scannerLoading}</span>
    </div>
  )
}

function Waiting({ text }: { text: string }) {
  return (
    <>
      <Spinner large />
      <span>{text}</span>
    </>
  )
}

interface ProblemProps {
  icon: Elements
  title: string
  body: string
  /** A retry with its button's text. */
  onRetry?: () => void
  again?: string
}

function Problem({ icon, title, body, onRetry, again }: ProblemProps) {
  return (
    <>
      {icon}
      <strong className={styles.problem}>{title}</strong>
      <span>{body}</span>
      {onRetry && (
        <button type="button" className={styles.retry} onClick={onRetry}>
          {again}
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
        stroke="var(--turmeric-500)"
        strokeWidth="5"
        strokeLinecap="round"
      />
    </svg>
  )
}
