import type { Page } from '@playwright/test'

/**
 * Imitates Chrome's translation of the page from its first text on. A `<font>` with another text replaces each text node, also each that
 * is added or changed. Elements marked as not to be translated stay.
 */
export async function translate(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const done = new WeakSet<Node>()
    /** The text nodes that the app made, by what stands in their place. */
    const originals = new Map<Element, Text>()
    const translate = (text: Text) => {
      const parent = text.parentElement
      if (!parent || done.has(text) || !text.data.trim()) return
      if (parent.closest('[translate="no"], script, style, svg, textarea, noscript')) return
      const font = document.createElement('font')
      const inner = document.createElement('font')
      const copy = document.createTextNode(text.data)
      done.add(copy)
      inner.append(copy)
      font.append(inner)
      text.replaceWith(font)
      originals.set(font, text)
    }
    const all = (root: Node) => {
      const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
      const texts: Text[] = []
      while (walker.nextNode()) texts.push(walker.currentNode as Text)
      for (const text of texts) translate(text)
    }
    const observer = new MutationObserver((changes) => {
      for (const { type, target, addedNodes } of changes) {
        if (type === 'characterData') translate(target as Text)
        for (const node of addedNodes) {
          if (node instanceof Text) translate(node)
          else all(node)
        }
      }
    })
    observer.observe(document, { childList: true, characterData: true, subtree: true })
    Object.assign(window, {
      untranslate() {
        observer.disconnect()
        for (const [font, text] of originals) if (font.isConnected) font.replaceWith(text)
      },
    })
  })
}

/** Ends the translation: the page is what the app has made of it. */
export const untranslate = (page: Page): Promise<void> =>
  page.evaluate(() => (window as unknown as { untranslate: () => void }).untranslate())
