import { create } from 'zustand'
import { ignoreTaps } from '@/shared/lib/last-tap'
import { isRecord, slot } from '@/shared/lib/storage'

/** A message for the customer: what happened, and what to do about it. */
export interface Message {
  kind: 'success' | 'failure' | 'info'
  title: string
  /** One line, or several. */
  body?: string | string[] | undefined
  /** Below the header instead of above the bar (docs/product.md §8). */
  atTop?: boolean | undefined
}

/** A message as phones keep it: in the words of the first version, so that one is read across an update too. */
interface Kept {
  jenis: string
  judul: string
  isi?: Message['body']
}

const KEPT_KINDS = { success: 'sukses', failure: 'gagal', info: 'info' } as const

const afterReload = slot<Kept>(
  'session',
  'nyala.pesan',
  (value): value is Kept => isRecord(value) && typeof value.judul === 'string',
)

/** A message that waits to be shown. */
export interface Queued extends Message {
  /** Counts up: the same message again is another one, to be seen and heard again. */
  id: number
  /** The screen that it belongs to; undefined at first, for whoever speaks may be about to leave for it. */
  page?: string
}

/** Waiting messages beyond this are dropped, the oldest first: nobody reads that many at once. */
const QUEUE_LIMIT = 8

interface ToastState {
  queue: Queued[]
  /** Whether there was ever a message: then the toaster stays. */
  used: boolean
  /** Counts the customer's tries; what an earlier one failed by is then no longer true. */
  tries: number
  /** The present screen; what belongs to another one is over. */
  page: string
  take: () => Queued[]
}

/**
 * Messages wait here until the toaster, which is loaded on first use, takes them. So any code may speak
 * without importing the library.
 */
export const useToasts = create<ToastState>((set, get) => ({
  queue: [],
  used: false,
  tries: 0,
  page: '',
  take() {
    const { queue } = get()
    if (queue.length > 0) set({ queue: [] })
    return queue
  },
}))

let count = 0

/** A message that comes with a change of screen belongs to the next one. */
const SETTLE_MS = 100

/** Whether a message has outlived its screen. News come from elsewhere, and belong to none. */
export const isOver = ({ kind, page }: Queued, now: string): boolean =>
  kind !== 'info' && page !== undefined && page !== now

function push(message: Message): void {
  count += 1
  const queued: Queued = { ...message, id: count }
  setTimeout(() => {
    queued.page = window.location.pathname
  }, SETTLE_MS)
  useToasts.setState(({ queue }) => ({
    used: true,
    queue: [...queue.filter(({ title }) => title !== message.title), queued].slice(-QUEUE_LIMIT),
  }))
}

export const toast = {
  success: (title: string, body?: Message['body']) => push({ kind: 'success', title, body }),
  failure: (title: string, body?: Message['body'], { atTop }: Pick<Message, 'atTop'> = {}) =>
    push({ kind: 'failure', title, body, atTop }),
  info: (title: string, body?: Message['body']) => push({ kind: 'info', title, body }),
  /** A new try begins: failures of the one before go. */
  newTry: () =>
    useToasts.setState(({ tries, queue }) => ({
      tries: tries + 1,
      queue: queue.filter(({ kind }) => kind !== 'failure'),
    })),
  /** Another screen is shown. */
  screen: (page: string) =>
    useToasts.setState(({ queue }) => ({ page, queue: queue.filter((message) => !isOver(message, page)) })),
  /** For a message that comes with a page reload: still readable after it. */
  tellAfterReload: ({ kind, title, body }: Message) =>
    afterReload.write({ jenis: KEPT_KINDS[kind], judul: title, isi: body }),
}

/** At start: show what the last page wanted to be read after its reload. */
export function showAfterReload(): void {
  const kept = afterReload.read()
  if (!kept) return
  afterReload.clear()
  // Who has tapped twice means the page before.
  ignoreTaps()
  const kind = (['success', 'failure'] as const).find((one) => KEPT_KINDS[one] === kept.jenis) ?? 'info'
  push({ kind, title: kept.judul, body: kept.isi })
}
