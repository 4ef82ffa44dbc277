import { useSyncExternalStore } from 'react'
import { entriesBefore } from '@/shared/lib/page/entries-before'

// A small router: the customers' router would take a fifth of the till's budget, for a handful of fixed addresses.

/** The till's base path. Addresses of screens follow it: `/` is the till itself. */
const BASE = '/kasir'

export const paths = {
  till: '/',
  pair: '/pasang',
  logIn: '/masuk',
  transactions: '/transaksi',
  shift: '/shift',
  manage: '/kelola',
  opening: '/kelola/buka',
  machines: '/mesin',
  attention: '/perhatian',
  alerts: '/pemberitahuan',
  summary: '/ringkasan',
} as const

const listeners = new Set<() => void>()
const notify = () => {
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) window.addEventListener('popstate', notify)
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) window.removeEventListener('popstate', notify)
  }
}

export function currentPath(): string {
  const path = window.location.pathname.replace(/\/+$/, '')
  return path.startsWith(`${BASE}/`) ? path.slice(BASE.length) : paths.till
}

export const usePath = (): string => useSyncExternalStore(subscribe, currentPath)

/** The query of the address, with its `?`. */
export const useSearch = (): string => useSyncExternalStore(subscribe, () => window.location.search)

/** The board on a wall: no bar, no panel (features/mesin/wall.tsx). */
export const WALL = '?dinding'
export const isWall = (search: string): boolean => new URLSearchParams(search).has('dinding')

/** The address of an outlet's board, with one machine open. */
export const boardPath = (idoutlet: number, idmesin: number | null): string =>
  `${paths.machines}?outlet=${idoutlet}${idmesin === null ? '' : `&mesin=${idmesin}`}`
export function boardOf(search: string): { idoutlet: number | null; idmesin: number | null } {
  const query = new URLSearchParams(search)
  const number = (name: string) => Number(query.get(name) ?? '') || null
  return { idoutlet: number('outlet'), idmesin: number('mesin') }
}

export const hrefOf = (path: string): string => (path === paths.till ? BASE : BASE + path)

/** `idx` counts the app's entries, for the sheets, which have separate entries (shared/lib/sheet-history.ts). */
export function navigate(path: string, { replace = false } = {}): void {
  if (path === currentPath() + window.location.search && !window.location.hash) return
  const idx = entriesBefore()
  if (replace) window.history.replaceState({ idx }, '', hrefOf(path))
  else window.history.pushState({ idx: idx + 1 }, '', hrefOf(path))
  notify()
}
