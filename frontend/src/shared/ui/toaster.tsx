import { type CSSProperties, type ReactNode, useEffect, useState } from 'react'
import { createPortal } from 'react-dom'
import { Toaster as Sonner, toast as sonner } from 'sonner'
import { create } from 'zustand'
import { added } from '@/shared/copy/added'
import { followFreeTop } from '@/shared/lib/free-top'
import { type Queued, useToasts } from '@/shared/lib/toast'
import { keepOnTop } from '@/shared/lib/toast-layer'
import styles from './toaster.module.css'

/** The library's own variables, so that both themes follow ours. */
const LOOK = {
  fontFamily: 'inherit',
  '--normal-bg': 'var(--surface)',
  '--normal-border': 'var(--line)',
  '--normal-text': 'var(--text)',
} as CSSProperties

/** Below titles and banners, wherever they are. */
const PLACE = { top: 'var(--free-top)' }
const MOBILE_PLACE = { ...PLACE, left: 8, right: 8 }

/** Between two messages, px. */
const GAP = 10

/** Good news takes less reading than a fault with what to do about it. */
const DURATION_MS = { success: 4_000, failure: 6_000, info: 6_000 }

const display = { success: sonner.success, failure: sonner.error, info: sonner.info } as const

/** The newest message of each title that is in the page, be it on its way out. */
const shown = new Map<string, number>()
/** Messages in whose place the same one has come anew: they leave without a word. */
const useReplaced = create<{ ids: readonly number[] }>(() => ({ ids: [] }))

/**
 * Every message is one of its own for the library: one that is on its way out takes an update with it, and
 * what is merely renewed is seen and heard by nobody.
 */
function show({ id, kind, title, body }: Queued): void {
  const before = shown.get(title)
  if (before !== undefined) {
    useReplaced.setState(({ ids }) => ({ ids: [...ids, before] }))
    sonner.dismiss(before)
  }
  shown.set(title, id)
  if (kind === 'failure') failures.add(id)
  display[kind](
    <Words id={id} title={title}>
      {title}
    </Words>,
    {
      id,
      duration: DURATION_MS[kind],
      onAutoClose: () => failures.delete(id),
      onDismiss: () => failures.delete(id),
      ...(body
        ? {
            description: (
              <Words id={id} title={title}>
                <Lines body={body} />
              </Words>
            ),
          }
        : {}),
    },
  )
}

/** Words of a message, so that each is in the page once: gone as soon as the same message comes again. */
function Words({ id, title, children }: { id: number; title: string; children: ReactNode }) {
  const replaced = useReplaced(({ ids }) => ids.includes(id))
  useEffect(() => {
    if ((shown.get(title) ?? 0) < id) shown.set(title, id)
    return () => {
      if (shown.get(title) === id) shown.delete(title)
      useReplaced.setState(({ ids }) => (ids.includes(id) ? { ids: ids.filter((one) => one !== id) } : {}))
    }
  }, [id, title])
  return replaced ? null : children
}

function Lines({ body }: { body: string | string[] }) {
  return [body].flat().map((line) => <div key={line}>{line}</div>)
}

/** Failures that are to be read; a new try takes them away. */
const failures = new Set<number>()

function dismissFailures(): void {
  for (const id of failures) sonner.dismiss(id)
  failures.clear()
}

/** Of all messages one below the other, px. */
function heightOf(host: HTMLElement): number {
  const all = [...host.querySelectorAll<HTMLElement>('[data-sonner-toast]')]
  return all.reduce((sum, one) => sum + one.offsetHeight, 0) + Math.max(0, all.length - 1) * GAP
}

/** Takes the waiting messages and shows them. Loaded on the first message. */
export default function Toaster() {
  const queue = useToasts((state) => state.queue)
  const tries = useToasts((state) => state.tries)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new try is the event
  useEffect(dismissFailures, [tries])
  useEffect(() => {
    if (queue.length > 0) for (const message of useToasts.getState().take()) show(message)
  }, [queue])
  const [host] = useState(() => document.createElement('div'))
  useEffect(() => keepOnTop(host), [host])
  useEffect(() => followFreeTop(host, () => heightOf(host)), [host])
  return createPortal(
    <Sonner
      position="top-center"
      theme="system"
      visibleToasts={3}
      expand
      gap={GAP}
      offset={PLACE}
      mobileOffset={MOBILE_PLACE}
      style={LOOK}
      containerAriaLabel={added.common.notifications}
      toastOptions={{
        classNames: {
          toast: styles.toast,
          title: styles.title,
          description: styles.description,
          success: styles.success,
          error: styles.failure,
        },
      }}
    />,
    host,
  )
}
