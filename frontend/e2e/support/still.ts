import type { Page } from '@playwright/test'

/** Frames in which nothing moved. */
const STILL_FRAMES = 4

/**
 * Until nothing moves any more. Without motion a change takes a few frames, too: each box begins its own transition, of a
 * millisecond, when the one around it has ended.
 */
export const still = (page: Page): Promise<void> =>
  page.evaluate(async (frames) => {
    const frame = () => new Promise((drawn) => requestAnimationFrame(drawn))
    for (let same = 0, before = ''; same < frames; ) {
      await frame()
      const boxes = [...document.querySelectorAll('body *')].map((node) => node.getBoundingClientRect())
      const now = JSON.stringify(boxes.map(({ x, y, width, height }) => [x, y, width, height]))
      same = now === before ? same + 1 : 0
      before = now
    }
  }, STILL_FRAMES)
