import type { Locator, Page } from '@playwright/test'

interface Point {
  x: number
  y: number
}

/** A pause longer than the time over which a finger's speed is measured. */
const REST_MS = 300
const STEPS = 8

export interface Finger {
  /** Moves by this distance in small steps. */
  move: (by: Partial<Point>) => Promise<void>
  /** Stays at its place, so that lifting throws nothing. */
  rest: () => Promise<void>
  lift: () => Promise<void>
  /** Moves and lifts without waiting for the page, as fast as possible. */
  fling: (by: Partial<Point>) => Promise<void>
}

/** Puts a finger on the element's middle; the browser receives the touch events of a phone's screen. */
export async function touch(page: Page, on: Locator): Promise<Finger> {
  const box = await on.boundingBox()
  if (!box) throw new Error('what is touched is not in the page')
  const phone = await page.context().newCDPSession(page)
  let at: Point = { x: box.x + box.width / 2, y: box.y + box.height / 2 }
  const dispatch = (type: 'touchStart' | 'touchMove' | 'touchEnd') =>
    phone.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [at] })
  await dispatch('touchStart')
  const steps = ({ x = 0, y = 0 }: Partial<Point>) => {
    const from = at
    return Array.from({ length: STEPS }, (_, step) => {
      const part = (step + 1) / STEPS
      return { x: from.x + x * part, y: from.y + y * part }
    })
  }
  const move = async (by: Partial<Point>) => {
    for (at of steps(by)) await dispatch('touchMove')
  }
  return {
    move,
    async rest() {
      await page.evaluate((ms) => new Promise((done) => setTimeout(done, ms)), REST_MS)
      await move({ y: 1 })
      await move({ y: -1 })
    },
    async lift() {
      await dispatch('touchEnd')
      await phone.detach()
    },
    async fling(by) {
      const sent: Promise<unknown>[] = []
      for (at of steps(by)) sent.push(dispatch('touchMove'))
      await Promise.all([...sent, dispatch('touchEnd')])
      await phone.detach()
    },
  }
}
