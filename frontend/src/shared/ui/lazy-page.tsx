import { type ComponentType, lazy, useState } from 'react'

/** A screen's file could not be fetched. The customer is told in its place; it is no defect. */
export class PageNotFetched extends Error {
  override readonly name = 'PageNotFetched'
}

type Load = () => Promise<{ default: ComponentType }>

/**
 * A screen in a file of its own. `next` are the screens that are likely to follow: they are fetched once
 * this one stands, so that the step after it does not wait for a weak network. `fetch` does so before it is drawn.
 */
export function lazyPage(load: Load, ...next: Load[]) {
  let here: ComponentType | null = null
  const fetch = async () => {
    const page = await load().catch(() => {
      throw new PageNotFetched('a screen could not be fetched')
    })
    here = page.default
    if (next.length > 0) setTimeout(() => void Promise.allSettled(next.map((one) => one())), NEXT_MS)
    return page
  }
  const Later = lazy(fetch)
  function Page() {
    // Even for a file that is there, `lazy` first shows that it is being fetched, and React keeps that for 300 ms.
    const [Shown] = useState(() => here ?? Later)
    return <Shown />
  }
  return Object.assign(Page, { fetch })
}

/** Time for the screen itself to draw and to ask for its data first. */
const NEXT_MS = 300
