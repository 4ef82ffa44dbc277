const MM_PER_PX = 25.4 / 96
/** Paper below the last line, to tear at. */
const TEAR_MM = 6

/**
 * Prints one element on a roll of 58 mm. A roll has no pages: the element's height is the page's height. It is written into `@page`,
 * because a printer gets it in no other way.
 */
export function printOnRoll(node: HTMLElement): void {
  const height_mm = Math.ceil(node.getBoundingClientRect().height * MM_PER_PX) + TEAR_MM
  printOn(`size: 58mm ${height_mm}mm; margin: 0 5mm`)
}

/** Prints on A4 to the paper's edge: what is printed brings its own margins. */
export const printOnA4 = (): void => printOn('size: A4; margin: 0')

function printOn(paper: string): void {
  const page = document.createElement('style')
  page.textContent = `@page { ${paper} }`
  document.head.append(page)
  // Nothing else of the page is printed then (ui/receipt.module.css).
  document.documentElement.dataset.alone = ''
  const onPrinted = () => {
    page.remove()
    delete document.documentElement.dataset.alone
  }
  window.addEventListener('afterprint', onPrinted, { once: true })
  window.print()
}
