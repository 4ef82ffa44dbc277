import { Component, type ReactNode, Suspense, useEffect, useState } from 'react'
import { Outlet, useLocation } from 'react-router'
import { reloadOnce } from '@/app/reload-once'
import { copy } from '@/shared/copy/copy'
import { Button } from '@/shared/ui/button'
import { Empty } from '@/shared/ui/empty'
import { PageNotFetched } from '@/shared/ui/lazy-page'
import { Spinner } from '@/shared/ui/spinner'
import styles from './page-boundary.module.css'

interface Props {
  /** Another address resets the boundary, so that the next screen is tried again. */
  resetKey: string
  children: ReactNode
}

/**
 * The place of a screen: shows its loading state, and a way out when it cannot load (no network, or a fault of ours). The surroundings,
 * like the bottom bar, stay.
 */
export function PageOutlet() {
  const { pathname: resetKey } = useLocation()
  const children = <Outlet />
  return (
    <Catch resetKey={resetKey}>
      <Suspense fallback={<Waiting />}>{children}</Suspense>
    </Catch>
  )
}

function Waiting() {
  return (
    <main className={styles.waiting} aria-busy="true">
      <Spinner large />
      <span className="visually-hidden">{copy.common.loading}</span>
    </main>
  )
}

interface State {
  failed: 'not' | 'fetch' | 'fault'
}

class Catch extends Component<Props, State> {
  override state: State = { failed: 'not' }

  static getDerivedStateFromError(error: unknown): State {
    return { failed: error instanceof PageNotFetched ? 'fetch' : 'fault' }
  }

  override componentDidUpdate(before: Props) {
    if (this.state.failed !== 'not' && before.resetKey !== this.props.resetKey)
      this.setState({ failed: 'not' })
  }

  override render() {
    const { failed } = this.state
    if (failed === 'not') return this.props.children
    return failed === 'fetch' ? <NotFetched pathname={this.props.resetKey} /> : <NotShown />
  }
}

/** Reloads the page once without a tap; shows a message where that takes longer or did not help. */
function NotFetched({ pathname }: { pathname: string }) {
  const [delayed, setDelayed] = useState(false)
  useEffect(() => {
    const left = new AbortController()
    void reloadOnce({ pathname, left: left.signal, onDelay: () => setDelayed(true) })
    return () => left.abort()
  }, [pathname])
  return delayed ? <NotShown /> : <Waiting />
}

function NotShown() {
  return (
    <main className={styles.waiting}>
      <h1 className="visually-hidden">{copy.brand}</h1>
      <Empty
        title={copy.common.pageFailed}
        body={copy.common.pageFailedBody}
        action={<Button onClick={() => window.location.reload()}>{copy.common.reload}</Button>}
      />
    </main>
  )
}
