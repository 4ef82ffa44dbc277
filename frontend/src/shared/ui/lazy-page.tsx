import { type ComponentType, lazy, useState } from 'react'

/** A screen's file could not be fetched. The screen's place shows it; it is not a defect. */
export class PageNotFetched extends Error {
  override readonly name = 'PageNotFetched'
}

type Load = () => Promise<{ default: ComponentType }>

/**
 * A screen in a separate file. `next` are the screens that are likely to follow: they are fetched once this one is shown, so that the
 * next step does not wait for a weak network. `fetch` loads the file before the screen is rendered.
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
    // Even with a loaded file, `lazy` first shows the loading state, and React keeps that for 300 ms.
    const [Shown] = useState(() => here ?? Later)
    return <Shown />
  }
  return Object.assign(Page, { fetch })
}

/** Time for the screen itself to render and to request its data first. */
const NEXT_MS = 300
