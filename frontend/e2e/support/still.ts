import type { Page } from '@playwright/test'

/** Number of frames in which nothing changed. */
const STILL_FRAMES = 4

/**
 * Waits until nothing moves or changes its colour any more. Without motion a change still takes a few frames: each box starts its own
 * transition, of a millisecond, when the surrounding one has ended.
 */
export const still = (page: Page): Promise<void> =>
  page.evaluate(async (frames) => {
    const frame = () => new Promise((drawn) => requestAnimationFrame(drawn))
    for (let same = 0, before = ''; same < frames; ) {
      await frame()
      const boxes = [...document.querySelectorAll('body *')].map((node) => node.getBoundingClientRect())
      const now = JSON.stringify(boxes.map(({ x, y, width, height }) => [x, y, width, height]))
      const changing = document
        .getAnimations()
        .some(
          ({ playState, effect }) =>
            playState === 'running' && effect?.getComputedTiming().endTime !== Infinity,
        )
      same = now === before && !changing ? same + 1 : 0
      before = now
    }
  }, STILL_FRAMES)
