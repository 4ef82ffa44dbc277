/** Marks what messages must not cover: titles with their back arrows, banners. */
export const KEEP_CLEAR = { 'data-keep-clear': true } as const
/** Marks what messages are placed above: the bottom bar, a screen's footer. */
export const KEEP_CLEAR_BELOW = { 'data-keep-clear-below': true } as const
/** Marks the visible part of a dialog; messages are placed above it where there is room. */
export const PANEL = { 'data-panel': true } as const

/** Top and bottom of an element, px from the top of the screen. */
export interface Span {
  top: number
  bottom: number
}

/** Gap between messages and what they keep clear of, px. */
const GAP = 8
/** Gap above the bottom of the screen, a bar or a footer, px. */
const ABOVE = 12

/**
 * The highest top edge for an element of this height that covers none of `kept`. Where the room has no such place, it is the room's top:
 * a message that cannot be read is worse than a covered title.
 */
export function freeTop(kept: readonly Span[], height: number, room: Span): number {
  let top = room.top + GAP
  for (const span of [...kept].sort((a, b) => a.top - b.top)) {
    if (top < span.bottom && span.top < top + height) top = span.bottom
  }
  return top + height <= room.bottom ? top : room.top + GAP
}

/**
 * The lowest bottom edge for an element of this height that covers none of `kept`. Where the room has no such place, `kept` is reduced
 * from its end, one by one.
 */
export function freeBottom(kept: readonly Span[], height: number, room: Span): number {
  for (let known = kept.length; known > 0; known--) {
    let bottom = room.bottom - ABOVE
    for (const span of kept.slice(0, known).sort((a, b) => b.bottom - a.bottom)) {
      if (bottom > span.top && span.bottom > bottom - height) bottom = span.top
    }
    if (bottom - height >= room.top + GAP) return bottom
  }
  return Math.max(room.bottom - ABOVE, room.top + GAP + height)
}

/** Heights of the messages at the top and at the bottom, px. */
interface Heights {
  top: number
  bottom: number
}

/**
 * Keeps `--free-top` and `--free-bottom` of the layer over the page (px, from its edges) at places that cover nothing kept clear, as long
 * as the layer has content, until the returned function is called. Scrolling titles, sheets, keyboards and banners fire no common event,
 * so it checks once per frame.
 */
export function followFreePlace(layer: HTMLElement, heights: () => Heights): () => void {
  let frame: number | undefined
  const look = () => {
    frame = undefined
    const { top, bottom } = heights()
    // The animation that moves messages up for the next one also needs the value 0.
    set(layer, '--all', bottom)
    if (top === 0 && bottom === 0) return
    fitToApp(layer)
    const { bottom: edge } = layer.getBoundingClientRect()
    const room = inSight(edge)
    if (top > 0) set(layer, '--free-top', freeTop(spans('[data-keep-clear]', GAP), top, room))
    if (bottom > 0) set(layer, '--free-bottom', edge - freeBottom(keptClear(layer), bottom, room))
    frame = requestAnimationFrame(look)
  }
  // The observer watches the children only: a change of the layer's position must not trigger it.
  const observer = new MutationObserver(() => {
    frame ??= requestAnimationFrame(look)
  })
  observer.observe(layer, { childList: true, subtree: true })
  look()
  return () => {
    observer.disconnect()
    if (frame !== undefined) cancelAnimationFrame(frame)
  }
}

/**
 * Keeps `--app-left` and `--app-right` of a layer over the page: the distances from its sides to the app, which does not fill a wide
 * window.
 */
export function fitToApp(layer: HTMLElement): void {
  const app = document.getElementById('root')
  if (!app) return
  const left = app.getBoundingClientRect().left + app.clientLeft
  set(layer, '--app-left', left)
  set(layer, '--app-right', document.documentElement.clientWidth - left - app.clientWidth)
}

function set(node: HTMLElement, name: string, px: number): void {
  const value = `${Math.round(px)}px`
  if (node.style.getPropertyValue(name) !== value) node.style.setProperty(name, value)
}

/** The visible screen without the keyboard, and without the areas that the phone's bar or camera covers. `edge` is its bottom. */
function inSight(edge: number): Span {
  const { offsetTop, height } = window.visualViewport ?? { offsetTop: 0, height: edge }
  const { documentElement } = document
  const inset = Number.parseFloat(getComputedStyle(documentElement).getPropertyValue('--inset-top')) || 0
  return { top: Math.max(inset, offsetTop), bottom: Math.min(edge, offsetTop + height) }
}

/** The areas that messages at the bottom keep clear of, the most important first. */
function keptClear(layer: HTMLElement): Span[] {
  const sheet = layer.closest('dialog')
  const field = spans('input:focus, select:focus', GAP)
  const titles = spans('[data-keep-clear]', GAP)
  if (!sheet) {
    // The button in the middle of the bar is taller than the bar.
    const buttons = spans('[data-keep-clear-below] :is(a, button)', GAP)
    return [...field, ...spans('[data-keep-clear-below]', ABOVE), ...buttons, ...titles]
  }
  const [panel] = spans(':scope > [data-panel]', ABOVE, sheet)
  if (!panel) return titles
  // The other controls are scrolled out of sight.
  const inPanel = (selector: string) =>
    spans(selector, GAP, sheet).filter(({ top, bottom }) => bottom > panel.top && top < panel.bottom)
  const [action = panel, ...buttons] = inPanel('button, a').reverse()
  const head = inPanel('[data-keep-clear]')
  return [...field, action, ...head, ...buttons, ...inPanel('input, select'), panel, ...titles]
}

/** The visible elements of this selector, with a gap around each. */
function spans(selector: string, gap: number, within: ParentNode = document): Span[] {
  return [...within.querySelectorAll(selector)]
    .map((node) => node.getBoundingClientRect())
    .filter(({ height, bottom, top }) => height > 0 && bottom > 0 && top < window.innerHeight)
    .map(({ top, bottom }) => ({ top: top - gap, bottom: bottom + gap }))
}
