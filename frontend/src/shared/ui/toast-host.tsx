import { Component, lazy, type ReactNode, Suspense } from 'react'
import { useStuckHeight } from '@/shared/lib/page/stuck-height'
import { lastOf } from '@/shared/lib/text/last-of'
import { useToasts } from '@/shared/lib/toast/toast'
import styles from './toast-host.module.css'

const Toaster = lazy(() => import('@/shared/ui/toaster'))

/** Fetches the toaster in advance, e.g. when a form gets the focus. */
export function warmToaster(): void {
  void import('@/shared/ui/toaster').catch(() => undefined)
}

/** Mounts the toaster with the first message; when it cannot be loaded, the message is shown plainly. */
export function ToastHost() {
  const used = useToasts((state) => state.used)
  return (
    <Plainly>
      <Suspense fallback={null}>{used && <Toaster />}</Suspense>
    </Plainly>
  )
}

class Plainly extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false }

  static getDerivedStateFromError() {
    return { failed: true }
  }

  override render() {
    return this.state.failed ? <PlainMessages /> : this.props.children
  }
}

function PlainMessages() {
  const last = useToasts((state) => lastOf(state.queue))
  const ref = useStuckHeight<HTMLDivElement>('--stuck-messages')
  return (
    <div ref={ref} role="alert" className={styles.layer}>
      {last && (
        <div key={last.id} className={styles.toast}>
          <div>
            <strong className={styles.title}>{last.title}</strong>
            {last.body && <div className={styles.body}>{last.body}</div>}
          </div>
        </div>
      )}
    </div>
  )
}
