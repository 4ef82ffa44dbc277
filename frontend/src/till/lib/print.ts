const MM_PER_PX = 25.4 / 96
/** Paper below the last line, to be torn at. */
const TEAR_MM = 6

/**
 * Prints one element on a roll of 58 mm. A roll has no pages: the height of the element is that of the page, which is
 * written into `@page` because nothing else tells it to a printer.
 */
export function printOnRoll(node: HTMLElement): void {
  const height_mm = Math.ceil(node.getBoundingClientRect().height * MM_PER_PX) + TEAR_MM
  const page = document.createElement('style')
  page.textContent = `@page { size: 58mm ${height_mm}mm; margin: 0 5mm }`
  document.head.append(page)
  window.addEventListener('afterprint', () => page.remove(), { once: true })
  window.print()
}
