import { Component, type ReactNode } from 'react'
import { Button } from '@/shared/ui/button'
import { Empty } from '@/shared/ui/empty'

/** A fault of ours leaves a way out on the page, and no blank one. */
export class Catch extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false }

  static getDerivedStateFromError() {
    return { failed: true }
  }

  override render() {
    if (!this.state.failed) return this.props.children
    return (
      <main>
        <h1 className="visually-hidden">Kasir Nyala</h1>
        <Empty
          title="Halaman ini gagal ditampilkan"
          body="Muat ulang untuk melanjutkan. Top-up yang sudah dikirim tidak hilang."
          action={<Button onClick={() => window.location.reload()}>Muat ulang</Button>}
        />
      </main>
    )
  }
}
