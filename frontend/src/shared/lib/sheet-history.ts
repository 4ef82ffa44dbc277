import { entriesBefore } from '@/shared/lib/entries-before'
import { isRecord } from '@/shared/lib/storage'

/**
 * Back closes the topmost sheet and leaves the page alone. Each open sheet has an entry of its own in the
 * browser's history, at the page's address; this keeps their number equal to that of the open sheets.
 */
interface Sheet {
  /** Asks it to close. It may stay, as one does that is locked or holds something typed. */
  ask: () => void
}

/** A browser that does not tell that it went back is waited for no longer. */
const BACK_MS = 1_000

const open: Sheet[] = []
let planned: ReturnType<typeof setTimeout> | undefined
/** Set while the history goes back because sheets have closed. */
let goingBack: ReturnType<typeof setTimeout> | undefined

/** Who waits for every sheet, and its entry, to be gone. */
const waiting: (() => void)[] = []

const state = (): Record<string, unknown> => {
  const now: unknown = window.history.state
  return isRecord(now) ? now : {}
}

/** For how many open sheets the present entry was made. */
const entryDepth = (): number => {
  const { sheets } = state()
  return typeof sheets === 'number' ? sheets : 0
}

/** Later, so that a sheet which takes the place of another finds its entry, and a change of page comes first. */
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
    // The router's own words stay in it: for the router it is the same screen.
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

/** At start: from now on back closes sheets. An entry left over by a reload goes. */
export function followSheets(): void {
  window.addEventListener('popstate', onPop)
  plan()
}

/**
 * Resolves when the sheets have closed and their entries are gone. A reload must wait for it: the browser
 * drops a reload for a step back that comes right after it.
 */
export function sheetsClosed(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    setTimeout(resolve, BACK_MS)
    plan()
  })
}

/** A sheet is open until the returned function is called. */
export function enterSheet(sheet: Sheet): () => void {
  open.push(sheet)
  plan()
  return () => {
    open.splice(open.indexOf(sheet), 1)
    plan()
  }
}
