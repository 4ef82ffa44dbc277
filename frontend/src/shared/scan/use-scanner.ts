import { type RefObject, useEffect, useEffectEvent } from 'react'
import type { Decode } from './decoder'

/** Pause between two looks: quick to the eye, light on a slow phone. */
const PAUSE_MS = 120
/** Longest side of what is looked at; more costs time and finds nothing more. */
const LOOK_SIDE = 720
/** So many looks in a row that fail, and not one that merely finds nothing: it does not work. */
const FAILURES = 10

interface Scanner {
  video: RefObject<HTMLVideoElement | null>
  /** Null pauses. */
  decode: Decode | null
  /** All codes of one look, the one nearest to the middle first; never empty. */
  onTexts: (texts: string[]) => void
  /** It has stopped looking, because no look succeeds. */
  onBroken: () => void
}

/** Looks at the running video again and again and hands over all codes that it sees. */
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
