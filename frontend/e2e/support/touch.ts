import type { Locator, Page } from '@playwright/test'

interface Point {
  x: number
  y: number
}

/** Longer than the time over which the speed of a finger is measured. */
const REST_MS = 300
const STEPS = 8

export interface Finger {
  /** In small steps, by so much. */
  move: (by: Partial<Point>) => Promise<void>
  /** It stays where it is, so that it throws nothing when it is lifted. */
  rest: () => Promise<void>
  lift: () => Promise<void>
  /** Moved and lifted without waiting for the page, which is as quick as it gets. */
  fling: (by: Partial<Point>) => Promise<void>
}

/** A finger on the middle of it, as the browser hears of it from a phone's screen. */
export async function touch(page: Page, on: Locator): Promise<Finger> {
  const box = await on.boundingBox()
  if (!box) throw new Error('what is touched is not in the page')
  const phone = await page.context().newCDPSession(page)
  let at: Point = { x: box.x + box.width / 2, y: box.y + box.height / 2 }
  const tell = (type: 'touchStart' | 'touchMove' | 'touchEnd') =>
    phone.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [at] })
  await tell('touchStart')
  const steps = ({ x = 0, y = 0 }: Partial<Point>) => {
    const from = at
    return Array.from({ length: STEPS }, (_, step) => {
      const part = (step + 1) / STEPS
      return { x: from.x + x * part, y: from.y + y * part }
    })
  }
  const move = async (by: Partial<Point>) => {
    for (at of steps(by)) await tell('touchMove')
  }
  return {
    move,
    async rest() {
      await page.evaluate((ms) => new Promise((done) => setTimeout(done, ms)), REST_MS)
      await move({ y: 1 })
      await move({ y: -1 })
    },
    async lift() {
      await tell('touchEnd')
      await phone.detach()
    },
    async fling(by) {
      const told: Promise<unknown>[] = []
      for (at of steps(by)) told.push(tell('touchMove'))
      await Promise.all([...told, tell('touchEnd')])
      await phone.detach()
    },
  }
}
