/** Marks what messages must not cover: titles with their back arrows, banners. */
export const KEEP_CLEAR = { 'data-keep-clear': true } as const
/** Marks what messages stand above: the bottom bar, a screen's footer. */
export const KEEP_CLEAR_BELOW = { 'data-keep-clear-below': true } as const
/** Marks the visible part of a dialog, above which messages stand where there is room. */
export const PANEL = { 'data-panel': true } as const

/** From the top of the screen to something, px. */
export interface Span {
  top: number
  bottom: number
}

/** Between messages and what they keep clear of, px. */
const GAP = 8
/** Above the bottom of the screen, a bar or a footer, px. */
const ABOVE = 12

/**
 * Where something of this height begins that is as high as it can be without covering any of `kept`. Where the room
 * has no such place it is the highest one of all: a message that cannot be read is worse than a covered title.
 */
export function freeTop(kept: readonly Span[], height: number, room: Span): number {
  let top = room.top + GAP
  for (const span of [...kept].sort((a, b) => a.top - b.top)) {
    if (top < span.bottom && span.top < top + height) top = span.bottom
  }
  return top + height <= room.bottom ? top : room.top + GAP
}

/**
 * Where something of this height ends that is as low as it can be without covering any of `kept`. Where the room has
 * no such place, one after the other is given up, the last of `kept` first.
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

/** Heights of the messages that stand at the top and at the bottom, px. */
interface Heights {
  top: number
  bottom: number
}

/**
 * Keeps `--free-top` and `--free-bottom` of the layer over the page (px, from its edges) at places that cover nothing
 * kept clear, as long as there is something in it, until the returned function is called. Titles scroll, sheets rise,
 * keyboards open and banners come without a word to anybody, so it looks once a frame.
 */
export function followFreePlace(layer: HTMLElement, heights: () => Heights): () => void {
  let frame: number | undefined
  const look = () => {
    frame = undefined
    const { top, bottom } = heights()
    // What moves up to make room for the next one needs to know that there is none.
    set(layer, '--all', bottom)
    if (top === 0 && bottom === 0) return
    fitToApp(layer)
    const { bottom: edge } = layer.getBoundingClientRect()
    const room = inSight(edge)
    if (top > 0) set(layer, '--free-top', freeTop(spans('[data-keep-clear]', GAP), top, room))
    if (bottom > 0) set(layer, '--free-bottom', edge - freeBottom(keptClear(layer), bottom, room))
    frame = requestAnimationFrame(look)
  }
  // Its own changes of place are no news.
  const news = new MutationObserver(() => {
    frame ??= requestAnimationFrame(look)
  })
  news.observe(layer, { childList: true, subtree: true })
  look()
  return () => {
    news.disconnect()
    if (frame !== undefined) cancelAnimationFrame(frame)
  }
}

/** Keeps `--app-left` and `--app-right` of a layer over the page: from its sides to the app, which does not fill a wide window. */
export function fitToApp(layer: HTMLElement): void {
  const app = document.getElementById('root')
  if (!app) return
  const left = app.getBoundingClientRect().left + app.clientLeft
  set(layer, '--app-left', left)
  set(layer, '--app-right', document.documentElement.clientWidth - left - app.clientWidth)
}

function set(node: HTMLElement, name: string, px: number): void {
  const said = `${Math.round(px)}px`
  if (node.style.getPropertyValue(name) !== said) node.style.setProperty(name, said)
}

/** The screen without the keyboard, and without what the phone's own bar or camera covers. `edge` is its bottom. */
function inSight(edge: number): Span {
  const { offsetTop, height } = window.visualViewport ?? { offsetTop: 0, height: edge }
  const { documentElement } = document
  const inset = Number.parseFloat(getComputedStyle(documentElement).getPropertyValue('--inset-top')) || 0
  return { top: Math.max(inset, offsetTop), bottom: Math.min(edge, offsetTop + height) }
}

/** What messages at the bottom keep clear of, the most important first. */
function keptClear(layer: HTMLElement): Span[] {
  const sheet = layer.closest('dialog')
  const field = spans('input:focus, select:focus', GAP)
  const titles = spans('[data-keep-clear]', GAP)
  if (!sheet) {
    // The button in the middle of the bar stands out of it.
    const buttons = spans('[data-keep-clear-below] :is(a, button)', GAP)
    return [...field, ...spans('[data-keep-clear-below]', ABOVE), ...buttons, ...titles]
  }
  const [panel] = spans(':scope > [data-panel]', ABOVE, sheet)
  if (!panel) return titles
  // The rest of it is scrolled out of sight.
  const inPanel = (selector: string) =>
    spans(selector, GAP, sheet).filter(({ top, bottom }) => bottom > panel.top && top < panel.bottom)
  const [action = panel, ...buttons] = inPanel('button, a').reverse()
  const head = inPanel('[data-keep-clear]')
  return [...field, action, ...head, ...buttons, ...inPanel('input, select'), panel, ...titles]
}

/** What can be seen of these in the page, with a gap around each. */
function spans(selector: string, gap: number, within: ParentNode = document): Span[] {
  return [...within.querySelectorAll(selector)]
    .map((node) => node.getBoundingClientRect())
    .filter(({ height, bottom, top }) => height > 0 && bottom > 0 && top < window.innerHeight)
    .map(({ top, bottom }) => ({ top: top - gap, bottom: bottom + gap }))
}
