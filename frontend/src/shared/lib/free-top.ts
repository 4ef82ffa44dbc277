/** Marks what messages must not cover: titles with their back arrows, banners. */
export const KEEP_CLEAR = { 'data-keep-clear': true } as const

/** From the top of the screen to something, px. */
interface Span {
  top: number
  bottom: number
}

/** Between messages and what they keep clear of, px. */
const GAP = 8

/**
 * The highest place for something of this height that covers none of `kept`, px from the top. Where the screen has
 * no such place it is the highest one of all: a message that cannot be read is worse than a covered title.
 */
export function freeTop(kept: readonly Span[], height: number, from: number, screen: number): number {
  let top = from + GAP
  for (const span of [...kept].sort((a, b) => a.top - b.top)) {
    const apart = span.bottom + GAP <= top || top + height + GAP <= span.top
    if (!apart) top = span.bottom + GAP
  }
  return top + height <= screen ? top : from + GAP
}

/**
 * Keeps `--free-top` of the node (px) at a place that covers nothing kept clear, as long as there is something in
 * the node, until the returned function is called. Titles scroll, sheets rise and banners come without a word to
 * anybody, so it looks once a frame.
 */
export function followFreeTop(node: HTMLElement, height: () => number): () => void {
  let frame: number | undefined
  const look = () => {
    frame = undefined
    const tall = height()
    if (tall === 0) return
    const top = freeTop(keptClear(), tall, inset(), window.innerHeight)
    const said = `${Math.round(top)}px`
    if (node.style.getPropertyValue('--free-top') !== said) node.style.setProperty('--free-top', said)
    frame = requestAnimationFrame(look)
  }
  // Its own changes of place are no news.
  const news = new MutationObserver(() => {
    frame ??= requestAnimationFrame(look)
  })
  news.observe(node, { childList: true, subtree: true })
  look()
  return () => {
    news.disconnect()
    if (frame !== undefined) cancelAnimationFrame(frame)
  }
}

function keptClear(): Span[] {
  return [...document.querySelectorAll('[data-keep-clear]')]
    .map((node) => node.getBoundingClientRect())
    .filter(({ height, bottom, top }) => height > 0 && bottom > 0 && top < window.innerHeight)
}

/** The part of the screen that the phone's own bar or camera covers, px. */
function inset(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).getPropertyValue('--inset-top')) || 0
}
