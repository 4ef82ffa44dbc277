import { Component, type ReactNode } from 'react'
import { Button } from '@/shared/ui/button'
import { Empty } from '@/shared/ui/empty'
import { PageNotFetched } from '@/shared/ui/lazy-page'

type Failed = 'fault' | 'fetch'

/** After a fault of ours, or for a screen that could not be fetched, shows a way out instead of a blank page. */
export class Catch extends Component<{ children: ReactNode }, { failed: Failed | null }> {
  override state = { failed: null }

  static getDerivedStateFromError(error: unknown): { failed: Failed } {
    return { failed: error instanceof PageNotFetched ? 'fetch' : 'fault' }
  }

  override render() {
    const { failed } = this.state
    if (!failed) return this.props.children
    return (
      <main>
        <h1 className="visually-hidden">Kasir Nyala</h1>
        <Empty
          title={failed === 'fetch' ? 'Halaman ini belum terunduh' : 'Halaman ini gagal ditampilkan'}
          body={`${failed === 'fetch' ? 'Periksa koneksi, lalu muat' : 'Muat'} ulang untuk melanjutkan. Top-up yang sudah dikirim tidak hilang.`}
          action={<Button onClick={() => window.location.reload()}>Muat ulang</Button>}
        />
      </main>
    )
  }
}
