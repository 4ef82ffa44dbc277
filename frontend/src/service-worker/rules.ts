/** What the service worker does with a request. */
export type Rule = 'page' | 'asset' | 'network'

/** Addresses the server answers itself: data, realtime, its own pages and the till. `/scanPage` is not `/scan/`. */
const SERVERS_OWN = /^\/(scan|socket\.io|ops|kasir|dev|docs|openapi\.json|healthz|readyz|metrics)(\/|$)/

interface Asked {
  method: string
  mode: string
  url: string
}

/** Screens come from the network while there is one; built files never change; data is never kept here. */
export function ruleFor({ method, mode, url }: Asked, origin: string): Rule {
  const { origin: asked, pathname } = new URL(url)
  if (method !== 'GET' || asked !== origin || SERVERS_OWN.test(pathname)) return 'network'
  if (mode === 'navigate') return 'page'
  return pathname.startsWith('/assets/') ? 'asset' : 'network'
}

export interface Precached {
  url: string
  /** Null where the name itself changes with the content. */
  revision: string | null
}

const PREFIX = 'nyala-shell-'

/** Name of one build's cache: another list of files is another name (FNV-1a, 32 bits). */
export function cacheName(files: Precached[]): string {
  let hash = 0x811c9dc5
  for (const char of files.map(({ url, revision }) => `${url} ${revision ?? ''}`).join('\n')) {
    hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193)
  }
  return PREFIX + (hash >>> 0).toString(16)
}

/** Caches of other builds. */
export function outdated(names: string[], current: string): string[] {
  return names.filter((name) => name.startsWith(PREFIX) && name !== current)
}
