import { type CSSProperties, useEffect, useState } from 'react'
import { createPortal } from 'react-dom'
import { Toaster as Sonner, toast as sonner } from 'sonner'
import { added } from '@/shared/copy/added'
import { type Pesan, useToasts } from '@/shared/lib/toast'
import { keepOnTop } from '@/shared/lib/toast-layer'
import styles from './toaster.module.css'

/** The library's own variables, so that both themes follow ours. */
const LOOK = {
  fontFamily: 'inherit',
  '--normal-bg': 'var(--surface)',
  '--normal-border': 'var(--line)',
  '--normal-text': 'var(--text)',
} as CSSProperties

/** Good news takes less reading than a fault with what to do about it. */
const DURATION_MS = { sukses: 4_000, gagal: 6_000, info: 6_000 }

const tampil = { sukses: sonner.success, gagal: sonner.error, info: sonner.info } as const

function show({ jenis, judul, isi }: Pesan): void {
  if (jenis === 'gagal') failures.add(judul)
  // The title is the identity: the same message again renews the one that is there.
  tampil[jenis](judul, {
    id: judul,
    duration: DURATION_MS[jenis],
    ...(isi ? { description: <Lines isi={isi} /> } : {}),
  })
}

function Lines({ isi }: { isi: string | string[] }) {
  return [isi].flat().map((line) => <div key={line}>{line}</div>)
}

/** Failures that are to be read; a new try takes them away. */
const failures = new Set<string>()

function dismissFailures(): void {
  for (const judul of failures) sonner.dismiss(judul)
  failures.clear()
}

/** Takes the waiting messages and shows them. Loaded on the first message. */
export default function Toaster() {
  const queue = useToasts((state) => state.queue)
  const tries = useToasts((state) => state.tries)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new try is the event
  useEffect(dismissFailures, [tries])
  useEffect(() => {
    if (queue.length > 0) for (const pesan of useToasts.getState().take()) show(pesan)
  }, [queue])
  const [host] = useState(() => document.createElement('div'))
  useEffect(() => keepOnTop(host), [host])
  return createPortal(
    <Sonner
      position="top-center"
      theme="system"
      visibleToasts={3}
      offset={16}
      mobileOffset={8}
      style={LOOK}
      containerAriaLabel={added.umum.notifikasi}
      toastOptions={{
        classNames: {
          toast: styles.toast,
          title: styles.title,
          description: styles.description,
          success: styles.sukses,
          error: styles.gagal,
        },
      }}
    />,
    host,
  )
}
