/**
 * Keeps `--hidden-top` and `--hidden-bottom`: how much of the page's edges is out of sight. Safari lays its keyboard over the page and
 * moves what is seen of it, where other browsers make the page smaller. A customer who zooms chooses what to see: nothing follows that.
 */
export function followVisiblePart(): void {
  const view = window.visualViewport
  if (!view) return
  const look = () => {
    const top = view.scale > 1 ? 0 : view.offsetTop
    const bottom = view.scale > 1 ? 0 : window.innerHeight - view.offsetTop - view.height
    const root = document.documentElement.style
    root.setProperty('--hidden-top', `${Math.max(0, Math.round(top))}px`)
    root.setProperty('--hidden-bottom', `${Math.max(0, Math.round(bottom))}px`)
  }
  view.addEventListener('resize', look)
  view.addEventListener('scroll', look)
}
