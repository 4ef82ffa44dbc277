import { entriesBefore } from '@/shared/lib/page/entries-before'
import { isRecord } from '@/shared/lib/session/storage'

/**
 * A sheet in the browser's history: back closes the topmost sheet and keeps the page. Each open sheet has a separate history entry at the
 * page's address; this module keeps the number of entries equal to that of the open sheets.
 */
interface Sheet {
  /** Requests it to close. It may stay, for example if it is locked or holds typed text. */
  ask: () => void
}

/** Time limit for the event of a step back, for browsers that fire none. */
const BACK_MS = 1_000

const open: Sheet[] = []
let planned: ReturnType<typeof setTimeout> | undefined
/** Set while the history goes back because sheets have closed. */
let goingBack: ReturnType<typeof setTimeout> | undefined

/** Callbacks that wait until every sheet, and its entry, is gone. */
const waiting: (() => void)[] = []

const state = (): Record<string, unknown> => {
  const now: unknown = window.history.state
  return isRecord(now) ? now : {}
}

/** The number of open sheets for which the current entry was made. */
const entryDepth = (): number => {
  const { sheets } = state()
  return typeof sheets === 'number' ? sheets : 0
}

/** Deferred, so that a sheet that replaces another finds its entry, and a change of page comes first. */
function plan(): void {
  clearTimeout(planned)
  planned = setTimeout(level)
}

function level(): void {
  if (goingBack !== undefined) return
  const surplus = entryDepth() - open.length
  if (surplus === 0 && open.length === 0) for (const done of waiting.splice(0)) done()
  if (surplus > 0) {
    goingBack = setTimeout(arrived, BACK_MS)
    window.history.go(-surplus)
  }
  for (let missing = -surplus; missing > 0; missing--) {
    // The router's own fields stay in the state: for the router it is the same screen.
    const entry = { ...state(), idx: entriesBefore() + 1, sheets: entryDepth() + 1 }
    window.history.pushState(entry, '')
  }
}

function arrived(): void {
  clearTimeout(goingBack)
  goingBack = undefined
  plan()
}

function onPop(): void {
  if (goingBack === undefined) for (const sheet of open.slice(entryDepth()).reverse()) sheet.ask()
  arrived()
}

/** Lets back close sheets; called once at the start. It removes an entry left over by a reload. */
export function followSheets(): void {
  window.addEventListener('popstate', onPop)
  plan()
}

/**
 * Resolves when the sheets have closed and their entries are gone. A reload must wait for it: the browser drops a reload in favour of a
 * step back right after it.
 */
export function sheetsClosed(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    setTimeout(resolve, BACK_MS)
    plan()
  })
}

/** Registers an open sheet, until the returned function is called. */
export function enterSheet(sheet: Sheet): () => void {
  open.push(sheet)
  plan()
  return () => {
    open.splice(open.indexOf(sheet), 1)
    plan()
  }
}
