import type { Page } from '@playwright/test'

export const SIDES = ['left', 'right', 'top', 'gap', 'bottom', 'width', 'height'] as const
type Side = (typeof SIDES)[number]

/** A visible item: a text, a surface, a control, a landmark. */
export interface Box {
  depth: number
  name: string
  /**
   * Distances in CSS pixels from the edges of the surrounding box, and the size. `gap` is the distance from the bottom of the box before
   * it.
   */
  sides: Partial<Record<Side, number>>
}

/** Every box of the page, in document order. */
export function measure(page: Page): Promise<Box[]> {
  return page.evaluate(() => {
    const LANDMARKS = 'main,header,nav,footer,section,article,dialog,form,ul,ol,li,dl,dt,dd'
    const THINGS = 'h1,h2,h3,button,a,input,select,img,video,svg'
    const boxes: Box[] = []

    const own = (node: Element) =>
      [...node.childNodes]
        .flatMap((child) => (child instanceof Text ? [child.data.trim()] : []))
        .filter(Boolean)
        .join(' ')

    function isSurface(node: Element): boolean {
      const { backgroundColor, backgroundImage, borderTopWidth, borderTopColor, boxShadow } =
        getComputedStyle(node)
      const clear = (color: string) => color === 'rgba(0, 0, 0, 0)' || color === 'transparent'
      const edge = borderTopWidth !== '0px' && !clear(borderTopColor)
      return !clear(backgroundColor) || backgroundImage !== 'none' || edge || boxShadow !== 'none'
    }

    function isSeen(node: Element): boolean {
      const { width, height } = node.getBoundingClientRect()
      return width > 1 && height > 1 && node.checkVisibility({ visibilityProperty: true })
    }

    function walk(node: Element, around: DOMRect, depth: number, before: { bottom: number | null }): void {
      if (!isSeen(node)) return
      const text = own(node)
      let inner = { around, depth, before }
      if (text || node.matches(`${LANDMARKS},${THINGS}`) || isSurface(node)) {
        const { left, right, top, bottom, width, height } = node.getBoundingClientRect()
        boxes.push({
          depth,
          name: [node.localName, text && JSON.stringify(text.slice(0, 40))].filter(Boolean).join(' '),
          sides: {
            left: left - around.left,
            right: around.right - right,
            top: top - around.top,
            ...(before.bottom === null ? {} : { gap: top - before.bottom }),
            bottom: around.bottom - bottom,
            width,
            height,
          },
        })
        before.bottom = bottom
        inner = { around: node.getBoundingClientRect(), depth: depth + 1, before: { bottom: null } }
      }
      if (node.matches('svg,select')) return
      for (const child of node.children) walk(child, inner.around, inner.depth, inner.before)
    }

    const screen = new DOMRect(0, 0, innerWidth, innerHeight)
    for (const child of document.body.children) walk(child, screen, 0, { bottom: null })
    return boxes
  })
}
