import { type RefObject, useEffect, useRef, useState } from 'react'
import { type Decode, loadDecoder } from './decoder'

/** Pause between two looks: quick to the eye, light on a slow phone. */
const PAUSE_MS = 120
/** Longest side of what is looked at; more costs time and finds nothing more. */
const LOOK_SIDE = 720

/**
 * Looks at the running video again and again and hands over every code it sees. `active` false pauses.
 * Returns true when the decoder could not be fetched.
 */
export function useScanner(
  video: RefObject<HTMLVideoElement | null>,
  active: boolean,
  onText: (text: string) => void,
): { failed: boolean } {
  const [failed, setFailed] = useState(false)
  const latest = useRef(onText)
  latest.current = onText

  useEffect(() => {
    if (!active) return
    let stopped = false
    let timer: ReturnType<typeof setTimeout>
    const canvas = document.createElement('canvas')

    async function look(decode: Decode) {
      const text = video.current ? await decode(frame(video.current, canvas)).catch(() => null) : null
      if (stopped) return
      if (text) latest.current(text)
      timer = setTimeout(() => void look(decode), PAUSE_MS)
    }

    loadDecoder().then(
      (decode) => {
        if (stopped) return
        setFailed(false)
        void look(decode)
      },
      () => !stopped && setFailed(true),
    )
    return () => {
      stopped = true
      clearTimeout(timer)
    }
  }, [active, video])

  return { failed }
}

function frame(video: HTMLVideoElement, canvas: HTMLCanvasElement): HTMLCanvasElement {
  const scale = Math.min(1, LOOK_SIDE / Math.max(video.videoWidth, video.videoHeight, 1))
  canvas.width = Math.max(1, Math.round(video.videoWidth * scale))
  canvas.height = Math.max(1, Math.round(video.videoHeight * scale))
  canvas.getContext('2d', { willReadFrequently: true })?.drawImage(video, 0, 0, canvas.width, canvas.height)
  return canvas
}
