import { useEffect, useState } from 'react'
import { createPortal } from 'react-dom'
import { Toaster as Sonner, toast as sonner } from 'sonner'
import { added } from '@/shared/copy/added'
import { type Pesan, useToasts } from '@/shared/lib/toast'
import { keepOnTop } from '@/shared/lib/toast-layer'
import styles from './toaster.module.css'

const DURATION_MS = 5_000

const tampil = { sukses: sonner.success, gagal: sonner.error, info: sonner.info } as const

function show({ jenis, judul, isi }: Pesan): void {
  // The title is the identity: the same message again renews the one that is there.
  tampil[jenis](judul, {
    id: judul,
    duration: DURATION_MS,
    ...(isi ? { description: <Lines isi={isi} /> } : {}),
  })
}

function Lines({ isi }: { isi: string | string[] }) {
  return [isi].flat().map((line) => <div key={line}>{line}</div>)
}

/** Takes the waiting messages and shows them. Loaded on the first message. */
export default function Toaster() {
  const queue = useToasts((state) => state.queue)
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
      mobileOffset={12}
      style={{ fontFamily: 'inherit' }}
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
