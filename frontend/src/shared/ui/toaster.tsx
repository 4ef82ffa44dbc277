import { BellRing, CircleAlert, CircleCheck, WifiOff } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { createPortal } from 'react-dom'
import { Toaster as Sonner, toast as sonner } from 'sonner'
import { create } from 'zustand'
import { failure } from '@/shared/copy/common'
import { copy } from '@/shared/copy/copy'
import { publishHeight } from '@/shared/lib/page/stuck-height'
import { isOver, type Queued, useToasts } from '@/shared/lib/toast/toast'
import { keepOnTop } from '@/shared/lib/toast/toast-layer'
import layer from './toast-host.module.css'
import styles from './toaster.module.css'

/** Number of messages visible at once, the newest ones. */
const MAX_VISIBLE = 3

/** Gap between two messages, px. */
const GAP = 8

/** Display times: a success needs less reading than a fault with advice. */
const DURATION_MS = { success: 2_500, failure: 6_000, info: 6_000 }

/** Aligned with the first line of the text beside it. */
const ICON = { size: 22, 'aria-hidden': true } as const

const ICONS = {
  success: <CircleCheck {...ICON} className={styles.good} />,
  error: <CircleAlert {...ICON} className={styles.bad} />,
  info: <BellRing {...ICON} className={styles.news} />,
}

/** Without the library's own styles. */
const TOAST = {
  unstyled: true,
  classNames: { toast: layer.toast, title: layer.title, description: layer.body },
}

const display = { success: sonner.success, failure: sonner.error, info: sonner.info } as const

/** The newest message in the page for each title, including one that is being removed. */
const shown = new Map<string, number>()
/** Messages replaced by the same one: they leave without text. */
const useReplaced = create<{ ids: readonly number[] }>(() => ({ ids: [] }))

/**
 * Every message is a separate one for the library. An update of a message that is being removed would disappear with it, and an update
 * alone is neither visible nor announced.
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
    <MessageText id={id} title={title}>
      {title}
    </MessageText>,
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
              <MessageText id={id} title={title}>
                <Lines body={body} />
              </MessageText>
            ),
          }
        : {}),
    },
  )
}

/** The text of a message. Each text is in the page once: it is removed as soon as the same message appears again. */
function MessageText({ id, title, children }: { id: number; title: string; children: ReactNode }) {
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

/** The visible messages. */
const open = new Map<number, Queued>()

function dismiss(which: (message: Queued) => boolean): void {
  for (const [id, message] of open) {
    if (!which(message)) continue
    open.delete(id)
    sonner.dismiss(id)
  }
}

/** A message takes room from the screen: the field in use must not be behind it. */
function keepFieldInSight(): void {
  document.querySelector('input:focus, select:focus')?.scrollIntoView({ block: 'nearest' })
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new attempt is the event
  useEffect(() => dismiss(({ kind }) => kind === 'failure'), [tries])
  const page = useToasts((state) => state.page)
  useEffect(() => dismiss((message) => isOver(message, page)), [page])
  useEffect(() => {
    if (queue.length > 0) for (const message of useToasts.getState().take()) show(message)
  }, [queue])
  const [host] = useState(makeHost)
  useEffect(() => keepOnTop(host), [host])
  useEffect(() => publishHeight(host, '--stuck-messages', keepFieldInSight), [host])
  return createPortal(
    <Sonner
      position="bottom-center"
      visibleToasts={MAX_VISIBLE}
      expand
      gap={GAP}
      swipeDirections={['bottom', 'left', 'right']}
      className={styles.list ?? ''}
      containerAriaLabel={copy.common.notifications}
      icons={ICONS}
      toastOptions={TOAST}
    />,
    host,
  )
}
