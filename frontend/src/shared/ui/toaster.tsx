import { BellRing, CircleAlert, CircleCheck, WifiOff } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { createPortal } from 'react-dom'
import { Toaster as Sonner, toast as sonner } from 'sonner'
import { create } from 'zustand'
import { added } from '@/shared/copy/added'
import { failure } from '@/shared/copy/shared'
import { followFreePlace } from '@/shared/lib/free-place'
import { isOver, type Queued, useToasts } from '@/shared/lib/toast'
import { keepOnTop } from '@/shared/lib/toast-layer'
import layer from './toast-host.module.css'
import styles from './toaster.module.css'

/** As far from the edges as `followFreePlace` says; the sides are in the style sheet. */
const PLACE = { top: 'var(--free-top)', bottom: 'var(--free-bottom)', left: 0, right: 0 }

/** So many are seen at once, the newest. */
const MOST = 3

/** Between two messages, px. */
const GAP = 8

/** Good news takes less reading than a fault with what to do about it. */
const DURATION_MS = { success: 2_500, failure: 6_000, info: 6_000 }

/** With the first line of the words beside it. */
const ICON = { size: 22, 'aria-hidden': true } as const

const ICONS = {
  success: <CircleCheck {...ICON} className={styles.good} />,
  error: <CircleAlert {...ICON} className={styles.bad} />,
  info: <BellRing {...ICON} className={styles.news} />,
}

/** Nothing of the library's own look. */
const TOAST = {
  unstyled: true,
  classNames: { toast: layer.toast, title: layer.title, description: layer.body },
}

const display = { success: sonner.success, failure: sonner.error, info: sonner.info } as const

/** The newest message of each title that is in the page, be it on its way out. */
const shown = new Map<string, number>()
/** Messages in whose place the same one has come anew: they leave without a word. */
const useReplaced = create<{ ids: readonly number[] }>(() => ({ ids: [] }))

/**
 * Every message is one of its own for the library: one that is on its way out takes an update with it, and
 * what is merely renewed is seen and heard by nobody.
 */
function show(message: Queued): void {
  const { id, kind, title, body, atTop } = message
  const before = shown.get(title)
  if (before !== undefined) {
    useReplaced.setState(({ ids }) => ({ ids: [...ids, before] }))
    sonner.dismiss(before)
  }
  shown.set(title, id)
  open.set(id, message)
  display[kind](
    <Words id={id} title={title}>
      {title}
    </Words>,
    {
      id,
      duration: DURATION_MS[kind],
      ...(atTop ? { position: 'top-center' } : {}),
      ...(title === failure.network ? { icon: <WifiOff {...ICON} className={styles.news} /> } : {}),
      onAutoClose: () => open.delete(id),
      onDismiss: () => open.delete(id),
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
  return replaced ? null : <span>{children}</span>
}

function Lines({ body }: { body: string | string[] }) {
  return [body].flat().map((line) => <div key={line}>{line}</div>)
}

/** Messages that are to be read. */
const open = new Map<number, Queued>()

function dismiss(which: (message: Queued) => boolean): void {
  for (const [id, message] of open) {
    if (!which(message)) continue
    open.delete(id)
    sonner.dismiss(id)
  }
}

/** Of the messages there that are not on their way out, one below the other, px. */
function heightOf(host: HTMLElement, edge: 'top' | 'bottom'): number {
  const all = [...host.querySelectorAll<HTMLElement>(`[data-y-position=${edge}][data-removed=false]`)]
  const seen = all.slice(0, MOST)
  return seen.reduce((sum, one) => sum + one.offsetHeight, 0) + Math.max(0, seen.length - 1) * GAP
}

function makeHost(): HTMLElement {
  const host = document.createElement('div')
  host.className = layer.layer ?? ''
  return host
}

/** Takes the waiting messages and shows them. Loaded on the first message. */
export default function Toaster() {
  const queue = useToasts((state) => state.queue)
  const tries = useToasts((state) => state.tries)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new try is the event
  useEffect(() => dismiss(({ kind }) => kind === 'failure'), [tries])
  const page = useToasts((state) => state.page)
  useEffect(() => dismiss((message) => isOver(message, page)), [page])
  useEffect(() => {
    if (queue.length > 0) for (const message of useToasts.getState().take()) show(message)
  }, [queue])
  const [host] = useState(makeHost)
  useEffect(() => keepOnTop(host), [host])
  useEffect(
    () => followFreePlace(host, () => ({ top: heightOf(host, 'top'), bottom: heightOf(host, 'bottom') })),
    [host],
  )
  return createPortal(
    <Sonner
      position="bottom-center"
      visibleToasts={MOST}
      expand
      gap={GAP}
      offset={PLACE}
      mobileOffset={PLACE}
      swipeDirections={['bottom', 'left', 'right']}
      className={styles.list ?? ''}
      containerAriaLabel={added.common.notifications}
      icons={ICONS}
      toastOptions={TOAST}
    />,
    host,
  )
}
