import { useEffect, useState } from 'react'

/** What covers more of the screen than any bar of a browser is the keyboard, px. */
const KEYBOARD_MIN = 150

/** The most that was ever in view, at this width: a screen may be opened while the keyboard is there. */
let full = { width: 0, height: 0 }

/** Whether the phone's keyboard stands over the screen. Not whether a field has the focus: that changes within a tap. */
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
