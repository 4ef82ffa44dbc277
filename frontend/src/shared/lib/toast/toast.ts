import { create } from 'zustand'
import { ignoreTaps } from '@/shared/lib/page/last-tap'
import { isRecord, slot } from '@/shared/lib/session/storage'

/** A message for the customer: what happened, and what to do about it. */
export interface Message {
  kind: 'success' | 'failure' | 'info'
  title: string
  /** One line, or several. */
  body?: string | string[] | undefined
  /** Below the header instead of above the bar (docs/product.md §8). */
  atTop?: boolean | undefined
}

/** A message as phones store it: with the field names of the first version, so that it is readable after an update. */
interface KeptToast {
  jenis: string
  judul: string
  isi?: Message['body']
}

const KEPT_KINDS = { success: 'sukses', failure: 'gagal', info: 'info' } as const

const afterReload = slot<KeptToast>(
  'session',
  'nyala.pesan',
  (value): value is KeptToast => isRecord(value) && typeof value.judul === 'string',
)

/** A message that waits to be shown. */
export interface Queued extends Message {
  /** A counter: the same message again is another one, to be shown and announced again. */
  id: number
  /** The screen that the message belongs to; undefined at first, because the caller may be about to navigate to it. */
  page?: string
}

/** Beyond this number the oldest waiting messages are dropped: a customer does not read that many. */
const QUEUE_LIMIT = 8

interface ToastState {
  queue: Queued[]
  /** Whether there ever was a message: then the toaster stays mounted. */
  used: boolean
  /** Counts the customer's attempts; a new one makes the failures of an earlier one obsolete. */
  tries: number
  /** The current screen; messages of another one are over. */
  page: string
  take: () => Queued[]
}

/**
 * The queue for messages until the toaster, which is loaded on first use, takes them. So any code may send a message without importing
 * the library.
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

/** A message sent this shortly before a change of screen belongs to the next screen. */
const SETTLE_MS = 100

/** Whether a message has outlived its screen. An info message belongs to no screen. */
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
  /** A new attempt starts: failures of the previous one are removed. */
  newTry: () =>
    useToasts.setState(({ tries, queue }) => ({
      tries: tries + 1,
      queue: queue.filter(({ kind }) => kind !== 'failure'),
    })),
  /** Another screen is shown. */
  screen: (page: string) =>
    useToasts.setState(({ queue }) => ({ page, queue: queue.filter((message) => !isOver(message, page)) })),
  /** Stores a message that must be readable after a page reload. */
  tellAfterReload: ({ kind, title, body }: Message) =>
    afterReload.write({ jenis: KEPT_KINDS[kind], judul: title, isi: body }),
}

/** Shows the message that the last page stored before its reload; called once at the start. */
export function showAfterReload(): void {
  const kept = afterReload.read()
  if (!kept) return
  afterReload.clear()
  // The second tap of a double tap was meant for the page before.
  ignoreTaps()
  const kind = (['success', 'failure'] as const).find((one) => KEPT_KINDS[one] === kept.jenis) ?? 'info'
  push({ kind, title: kept.judul, body: kept.isi })
}
