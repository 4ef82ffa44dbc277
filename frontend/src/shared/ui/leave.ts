import { fitToApp } from '@/shared/lib/free-place'
import { lessMotion } from '@/shared/lib/less-motion'
import styles from './dialog.module.css'

/**
 * A sheet that has closed is seen going down. It is closed all the same: what React has taken out of the page is laid
 * over it once more, where nobody finds it, while the page below has the focus and hears every tap.
 */
export function leave(dialog: HTMLDialogElement): void {
  const panel = dialog.firstElementChild
  if (!panel || lessMotion()) return
  const scrolled = panel.scrollTop
  queueMicrotask(() => {
    const look = lookOfPage()
    // In development React plays every effect twice.
    if (dialog.isConnected || !look) return
    const layer = document.createElement('div')
    layer.className = `${styles.layer} ${styles.leaving}`
    fitToApp(layer)
    layer.append(panel)
    const ghost = document.createElement('div')
    ghost.inert = true
    const hidden = ghost.attachShadow({ mode: 'closed' })
    hidden.adoptedStyleSheets = [look]
    hidden.append(layer)
    document.body.append(ghost)
    panel.scrollTop = scrolled
    const moves = panel.getAnimations().map(({ finished }) => finished)
    void Promise.allSettled(moves).then(() => ghost.remove())
  })
}

/** The page's own rules, which do not reach into a shadow, and of how many sheets they are. */
let known: { sheets: number; look: CSSStyleSheet } | undefined

/** Undefined in a browser that cannot share rules: there a sheet is gone at once. */
function lookOfPage(): CSSStyleSheet | undefined {
  const sheets = document.styleSheets.length
  if (known?.sheets === sheets) return known.look
  try {
    const look = new CSSStyleSheet()
    const rules = [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules])
    look.replaceSync(rules.map(({ cssText }) => cssText).join('\n'))
    known = { sheets, look }
    return look
  } catch {
    return undefined
  }
}
