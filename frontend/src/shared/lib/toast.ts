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

interface ToastState {
  queue: Pesan[]
  /** Whether there was ever a message: then the toaster stays. */
  used: boolean
  /** Counts the customer's tries; what an earlier one failed by is then no longer true. */
  tries: number
  take: () => Pesan[]
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

function push(pesan: Pesan): void {
  useToasts.setState(({ queue }) => ({
    used: true,
    queue: [...queue.filter((p) => p.judul !== pesan.judul), pesan],
  }))
}

export const toast = {
  sukses: (judul: string, isi?: Pesan['isi']) => push({ jenis: 'sukses', judul, isi }),
  gagal: (judul: string, isi?: Pesan['isi']) => push({ jenis: 'gagal', judul, isi }),
  info: (judul: string, isi?: Pesan['isi']) => push({ jenis: 'info', judul, isi }),
  /** A new try begins: failures of the one before go. */
  percobaanBaru: () => useToasts.setState(({ tries }) => ({ tries: tries + 1 })),
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
