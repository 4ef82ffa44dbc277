import { lessMotion } from '@/shared/lib/page/less-motion'
import styles from './dialog.module.css'

/**
 * Animates a closed sheet on its way down. React has already removed it from the page; its panel is shown once more in an inert layer.
 * The page below has the focus and receives every tap.
 */
export function leave(dialog: HTMLDialogElement): void {
  const panel = dialog.firstElementChild
  if (!panel || lessMotion()) return
  const scrolled = panel.scrollTop
  queueMicrotask(() => {
    const look = lookOfPage()
    // In development React runs every effect twice.
    if (dialog.isConnected || !look) return
    const layer = document.createElement('div')
    layer.className = `${styles.layer} ${styles.leaving}`
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

/** The page's rules, which do not apply inside a shadow root, and the number of sheets that they come from. */
let known: { sheets: number; look: CSSStyleSheet } | undefined

/** Undefined in a browser without shared style sheets: there a sheet disappears at once. */
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
