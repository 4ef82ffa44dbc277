import { type ComponentType, lazy } from 'react'

/** A screen in a file of its own. A fetch that failed once, as on a weak network, is tried once more. */
export function lazyPage(load: () => Promise<{ default: ComponentType }>) {
  return lazy(() => load().catch(() => load()))
}
