import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'

export type CameraState = 'starting' | 'live' | 'refused' | 'missing' | 'busy' | 'insecure'

interface Camera {
  state: CameraState
  /** Whether the lamp is on; null where the camera has none. */
  torch: boolean | null
  toggleTorch: () => void
  retry: () => void
}

/** The camera on the back (`environment`) or on the front (`user`). */
export type Facing = 'environment' | 'user'

type TorchCapabilities = MediaTrackCapabilities & { torch?: boolean }

/** A camera in a video element while the screen is open and visible; stopped when the screen is left or hidden. */
export function useCamera(video: RefObject<HTMLVideoElement | null>, facing: Facing = 'environment'): Camera {
  const [state, setState] = useState<CameraState>('starting')
  const [torch, setTorch] = useState<boolean | null>(null)
  const [attempt, setAttempt] = useState(0)
  const track = useRef<MediaStreamTrack | null>(null)
  const visible = useVisible()

  // biome-ignore lint/correctness/useExhaustiveDependencies: `attempt` is the customer's "try again"
  useEffect(() => {
    if (!visible) return
    if (!window.isSecureContext || !navigator.mediaDevices?.getUserMedia) return setState('insecure')
    let stream: MediaStream | null = null
    let left = false
    setState('starting')
    openCamera(facing)
      .then(async (opened) => {
        if (left) return stop(opened)
        stream = opened
        track.current = opened.getVideoTracks()[0] ?? null
        const capabilities = track.current?.getCapabilities?.() as TorchCapabilities | undefined
        setTorch(capabilities?.torch ? false : null)
        track.current?.addEventListener('ended', () => setState('busy'))
        if (!video.current) return
        video.current.srcObject = opened
        await video.current.play()
        setState('live')
      })
      .catch((error: unknown) => {
        if (!left) setState(reason(error))
      })
    return () => {
      left = true
      track.current = null
      if (stream) stop(stream)
      if (video.current) video.current.srcObject = null
    }
  }, [video, facing, visible, attempt])

  const toggleTorch = useCallback(() => {
    if (torch === null) return
    const constraint = { advanced: [{ torch: !torch } as MediaTrackConstraintSet] }
    track.current?.applyConstraints(constraint).then(
      () => setTorch(!torch),
      () => setTorch(null),
    )
  }, [torch])

  return { state, torch, toggleTorch, retry: useCallback(() => setAttempt((n) => n + 1), []) }
}

function openCamera(facing: Facing): Promise<MediaStream> {
  return navigator.mediaDevices.getUserMedia({
    audio: false,
    video: { facingMode: { ideal: facing }, width: { ideal: 1280 }, height: { ideal: 720 } },
  })
}

function stop(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop()
}

function reason(error: unknown): CameraState {
  const name = error instanceof DOMException ? error.name : ''
  if (name === 'NotAllowedError' || name === 'SecurityError') return 'refused'
  if (name === 'NotFoundError' || name === 'OverconstrainedError') return 'missing'
  return 'busy'
}

function useVisible(): boolean {
  const [visible, setVisible] = useState(() => document.visibilityState === 'visible')
  useEffect(() => {
    const onChange = () => setVisible(document.visibilityState === 'visible')
    document.addEventListener('visibilitychange', onChange)
    return () => document.removeEventListener('visibilitychange', onChange)
  }, [])
  return visible
}
