import { Component, type ReactNode, Suspense } from 'react'
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

/** Shows that a screen is being fetched, and a way out when it cannot be (no network, or a fault of ours). */
export function PageBoundary({ resetKey, children }: Props) {
  return (
    <Catch key={resetKey}>
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

class Catch extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false }

  static getDerivedStateFromError() {
    return { failed: true }
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
