import { Component, type ReactNode, Suspense } from 'react'
import { Outlet, useLocation } from 'react-router'
import { added } from '@/shared/copy/added'
import { Button } from '@/shared/ui/button'
import { Empty } from '@/shared/ui/empty'
import { Spinner } from '@/shared/ui/spinner'
import styles from './page-boundary.module.css'

interface Props {
  /** A change of address gives the next screen a fresh try. */
  resetKey: string
  children: ReactNode
}

/**
 * The place of a screen: shows that it is being fetched, and a way out when it cannot be (no network, or
 * a fault of ours). What surrounds it, like the bottom bar, stays.
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
      <span className="visually-hidden">{added.umum.muat}</span>
    </main>
  )
}

class Catch extends Component<Props, { failed: boolean }> {
  override state = { failed: false }

  static getDerivedStateFromError() {
    return { failed: true }
  }

  override componentDidUpdate(before: Props) {
    if (this.state.failed && before.resetKey !== this.props.resetKey) this.setState({ failed: false })
  }

  override render() {
    if (!this.state.failed) return this.props.children
    return (
      <main className={styles.waiting}>
        <h1 className="visually-hidden">{added.merek}</h1>
        <Empty
          title={added.umum.halamanGagal}
          body={added.umum.halamanGagalIsi}
          action={<Button onClick={() => window.location.reload()}>{added.umum.muatUlang}</Button>}
        />
      </main>
    )
  }
}
