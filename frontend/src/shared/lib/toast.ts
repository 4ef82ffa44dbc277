import { create } from 'zustand'
import { isRecord, slot } from '@/shared/lib/storage'

/** A message for the customer: what happened, and what to do about it. */
export interface Pesan {
  jenis: 'sukses' | 'gagal' | 'info'
  judul: string
  /** One line, or several. */
  isi?: string | string[] | undefined
}

const afterReload = slot<Pesan>(
  'session',
  'nyala.pesan',
  (value): value is Pesan => isRecord(value) && typeof value.judul === 'string',
)

/** A message that waits to be shown. */
export interface Queued extends Pesan {
  /** Counts up: the same message again is another one, to be seen and heard again. */
  id: number
}

/** Waiting messages beyond this are dropped, the oldest first: nobody reads that many at once. */
const QUEUE_LIMIT = 8

interface ToastState {
  queue: Queued[]
  /** Whether there was ever a message: then the toaster stays. */
  used: boolean
  /** Counts the customer's tries; what an earlier one failed by is then no longer true. */
  tries: number
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
  take() {
    const { queue } = get()
    if (queue.length > 0) set({ queue: [] })
    return queue
  },
}))

let count = 0

function push(pesan: Pesan): void {
  count += 1
  const queued = { ...pesan, id: count }
  useToasts.setState(({ queue }) => ({
    used: true,
    queue: [...queue.filter(({ judul }) => judul !== pesan.judul), queued].slice(-QUEUE_LIMIT),
  }))
}

export const toast = {
  sukses: (judul: string, isi?: Pesan['isi']) => push({ jenis: 'sukses', judul, isi }),
  gagal: (judul: string, isi?: Pesan['isi']) => push({ jenis: 'gagal', judul, isi }),
  info: (judul: string, isi?: Pesan['isi']) => push({ jenis: 'info', judul, isi }),
  /** A new try begins: failures of the one before go. */
  percobaanBaru: () =>
    useToasts.setState(({ tries, queue }) => ({
      tries: tries + 1,
      queue: queue.filter(({ jenis }) => jenis !== 'gagal'),
    })),
  /** For a message that comes with a page reload: still readable after it. */
  setelahMuatUlang: (pesan: Pesan) => afterReload.write(pesan),
}

/** At start: show what the last page wanted to be read after its reload. */
export function showAfterReload(): void {
  const pesan = afterReload.read()
  if (!pesan) return
  afterReload.clear()
  push(pesan)
}
