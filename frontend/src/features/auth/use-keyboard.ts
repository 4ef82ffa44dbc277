import { useEffect, useState } from 'react'

/** Anything that covers more of the screen than a browser's bar is the keyboard, px. */
const KEYBOARD_MIN = 150

/** The largest view so far at this width: a screen may be opened while the keyboard is open. */
let full = { width: 0, height: 0 }

/** Whether the phone's keyboard covers the screen. The focus of a field does not show that: it changes within a tap. */
export function useKeyboard(): boolean {
  const [open, setOpen] = useState(false)
  useEffect(() => {
    const view = window.visualViewport
    if (!view) return
    const look = () => {
      const height = view.height * view.scale
      if (full.width !== window.innerWidth) full = { width: window.innerWidth, height }
      full.height = Math.max(full.height, height)
      const typing = document.activeElement instanceof HTMLInputElement
      setOpen(typing && full.height - height > KEYBOARD_MIN)
    }
    look()
    view.addEventListener('resize', look)
    return () => view.removeEventListener('resize', look)
  }, [])
  return open
}
