import { type RefObject, useEffect, useEffectEvent } from 'react'
import type { Decode } from './decoder'

/** Pause between two frames: short for the eye, light for a slow phone. */
const PAUSE_MS = 120
/** Longest side of a frame; a larger one costs time and finds nothing more. */
const LOOK_SIDE = 720
/** Number of failed frames in a row after which the decoder counts as broken. A frame without a code is not a failure. */
const FAILURES = 10

interface Scanner {
  video: RefObject<HTMLVideoElement | null>
  /** Null pauses. */
  decode: Decode | null
  /** All codes of one frame, the one nearest to the middle first; never empty. */
  onTexts: (texts: string[]) => void
  /** The scanner has stopped, because every frame fails. */
  onBroken: () => void
}

/** Scans frames of the running video repeatedly, and passes on all codes. */
export function useScanner({ video, decode, onTexts, onBroken }: Scanner): void {
  const found = useEffectEvent(onTexts)
  const broken = useEffectEvent(onBroken)

  useEffect(() => {
    if (!decode) return
    let stopped = false
    let failures = 0
    let timer: ReturnType<typeof setTimeout>
    const canvas = document.createElement('canvas')

    async function look(read: Decode) {
      let texts: string[] = []
      try {
        if (video.current) texts = await read(frame(video.current, canvas))
        failures = 0
      } catch {
        failures += 1
      }
      if (stopped) return
      if (failures >= FAILURES) return broken()
      if (texts.length > 0) found(texts)
      timer = setTimeout(() => void look(read), PAUSE_MS)
    }

    void look(decode)
    return () => {
      stopped = true
      clearTimeout(timer)
    }
  }, [decode, video])
}

function frame(video: HTMLVideoElement, canvas: HTMLCanvasElement): HTMLCanvasElement {
  const scale = Math.min(1, LOOK_SIDE / Math.max(video.videoWidth, video.videoHeight, 1))
  canvas.width = Math.max(1, Math.round(video.videoWidth * scale))
  canvas.height = Math.max(1, Math.round(video.videoHeight * scale))
  canvas.getContext('2d', { willReadFrequently: true })?.drawImage(video, 0, 0, canvas.width, canvas.height)
  return canvas
}
