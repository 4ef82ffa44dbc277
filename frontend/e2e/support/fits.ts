import type { Page } from '@playwright/test'

/** CSS pixels of the screen that the phone's own bars cover. */
export interface Insets {
  top: number
  bottom: number
}

/** The smallest target that a finger hits. */
const TARGET = 48

/**
 * The faults of the current screen: wider than the phone, text that is cut off or lies over other text, targets too small for a finger,
 * content under the phone's bars. `targets`: the smallest size; axe checks links in a sentence.
 */
export function faults(page: Page, { top, bottom }: Insets = { top: 0, bottom: 0 }): Promise<string[]> {
  return page.evaluate(
    ([target, coveredAbove, coveredBelow]) => {
      const found: string[] = []
      // Under an open sheet or the paid message, nothing else needs to be seen well or pressed.
      const sheet = [...document.querySelectorAll('dialog[open]')].at(-1)
      const layer = [...document.querySelectorAll('section')].find(
        (one) => getComputedStyle(one).position === 'fixed',
      )
      const all = [...(sheet ?? layer ?? document.body).querySelectorAll('*')]
      const report = (what: string, node: Element) =>
        found.push(
          `${what}: <${node.localName}> ${node.textContent?.trim().slice(0, 40) || node.getAttribute('aria-label')}`,
        )
      const seen = (node: Element) =>
        node.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
        !node.closest('.visually-hidden,[inert]')

      const wide = document.documentElement.scrollWidth - innerWidth
      if (wide > 0) found.push(`the page is ${wide} px too wide`)

      /** The text is shortened by an ellipsis, which shows that there is more. */
      const shortened = ({ webkitLineClamp, textOverflow }: CSSStyleDeclaration) =>
        webkitLineClamp !== 'none' || textOverflow === 'ellipsis'

      /** The visible part of a line. Reports where the line is cut, unless it is shortened or can be scrolled there. */
      function inSight(node: Element, line: DOMRect): DOMRect {
        let { left, right, top, bottom } = line
        const free = { x: false, y: false }
        for (
          let outer: Element | null = node;
          outer && outer !== document.body;
          outer = outer.parentElement
        ) {
          const style = getComputedStyle(outer)
          const edge = outer.getBoundingClientRect()
          const hides = (overflow: string) => overflow === 'hidden' || overflow === 'clip'
          const short = shortened(style)
          if (hides(style.overflowX)) {
            if (!free.x && !short && (left < edge.left - 1 || right > edge.right + 1))
              report('cut at the side', node)
            left = Math.max(left, edge.left)
            right = Math.min(right, edge.right)
          }
          if (hides(style.overflowY)) {
            // Letters do not fill the height of their line.
            if (!free.y && !short && (top < edge.top - 4 || bottom > edge.bottom + 4))
              report('cut above or below', node)
            top = Math.max(top, edge.top)
            bottom = Math.min(bottom, edge.bottom)
          }
          free.x ||= /auto|scroll/.test(style.overflowX)
          free.y ||= /auto|scroll/.test(style.overflowY)
        }
        if (!free.x && (left < 0 || right > innerWidth)) report('beyond the edge', node)
        return new DOMRect(left, top, Math.max(0, right - left), Math.max(0, bottom - top))
      }

      const lines: { node: Element; box: DOMRect }[] = []
      for (const node of all) {
        if (!seen(node)) continue
        for (const child of node.childNodes) {
          if (!(child instanceof Text) || !child.data.trim()) continue
          const range = document.createRange()
          range.selectNodeContents(child)
          for (const box of range.getClientRects())
            if (box.width > 1) lines.push({ node, box: inSight(node, box) })
        }
      }

      /** The fixed or sticky ancestor of a node: it does not scroll out from under the phone's lower bar. */
      const floats = (node: Element) => {
        for (let outer: Element | null = node; outer; outer = outer.parentElement) {
          const { position, bottom, overflowY } = getComputedStyle(outer)
          if (/auto|scroll/.test(overflowY) && outer.scrollHeight > outer.clientHeight) return null
          if (position === 'fixed' || (position === 'sticky' && bottom !== 'auto')) return outer
        }
        return null
      }
      for (const [i, one] of lines.entries())
        for (const other of lines.slice(i + 1)) {
          const x = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left)
          const y = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top)
          if (x <= 1 || y <= Math.min(one.box.height, other.box.height) * 0.3) continue
          if (one.node !== other.node && floats(one.node) === floats(other.node)) {
            report(`text over '${other.node.textContent?.trim().slice(0, 30)}'`, one.node)
          }
        }

      // The machine on the receipt is shown beside the price, or not at all.
      for (const door of all.filter((one) => one.matches('[data-paid-machine]') && seen(one))) {
        const edge = door.getBoundingClientRect()
        for (const { node, box } of lines)
          if (
            box.right > edge.left &&
            box.left < edge.right &&
            box.bottom > edge.top &&
            box.top < edge.bottom
          )
            report("over the machine's door", node)
      }

      for (const node of all.filter(
        (one) => one.matches('button,a,input,select,[role=switch]') && seen(one),
      )) {
        const { left, right, top: above, bottom: below, width, height } = node.getBoundingClientRect()
        const inText = node.localName === 'a' && getComputedStyle(node).display === 'inline'
        // The six boxes of a code do not fit side by side on the smallest phone; they are one field.
        const narrow = node.matches('input') ? 40 : target
        if (!inText && (width < narrow - 0.5 || height < target - 0.5)) {
          report(`${Math.round(width)}×${Math.round(height)}, too small for a finger`, node)
        }
        const within = left >= 0 && right <= innerWidth
        if (within && above < coveredAbove && below > 0 && scrollY === 0)
          report("under the phone's upper bar", node)
        if (within && floats(node) && below > innerHeight - coveredBelow && above < innerHeight) {
          report("under the phone's lower bar", node)
        }
      }
      for (const { node, box } of lines) {
        if (scrollY === 0 && box.top < coveredAbove && box.bottom > 0)
          report("text under the phone's upper bar", node)
        if (floats(node) && box.bottom > innerHeight - coveredBelow && box.top < innerHeight) {
          report("text under the phone's lower bar", node)
        }
      }
      return [...new Set(found)]
    },
    [TARGET, top, bottom] as const,
  )
}

/** Sets the areas that the phone's bars cover from now on. */
export async function cover(page: Page, insets: Insets): Promise<void> {
  const phone = await page.context().newCDPSession(page)
  await phone.send('Emulation.setSafeAreaInsetsOverride', { insets })
  // The page receives the new insets later.
  await page.waitForFunction((top) => {
    const probe = document.body.appendChild(document.createElement('div'))
    probe.style.height = 'env(safe-area-inset-top, 0px)'
    const { height } = probe.getBoundingClientRect()
    probe.remove()
    return height === top
  }, insets.top)
}

/** Enlarges all letters, as the system's settings do; 1 is the normal size. */
export const enlarge = (page: Page, factor: number) =>
  page.evaluate(
    (size) => {
      document.documentElement.style.fontSize = size
    },
    `${factor * 100}%`,
  )
