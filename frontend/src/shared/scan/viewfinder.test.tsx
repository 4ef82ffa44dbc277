import { cleanup, render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { createRef } from 'react'
import { afterEach, expect, it, vi } from 'vitest'
import { copy } from '@/shared/copy/copy'
import type { CameraState } from './use-camera'
import type { DecoderState } from './use-decoder'
import { Viewfinder } from './viewfinder'

afterEach(cleanup)

function show(state: CameraState, decoder: DecoderState, onReload = vi.fn()) {
  const video = createRef<HTMLVideoElement>()
  const nothing = () => undefined
  const rest = { checking: false, torch: null, onTorch: nothing, onRetry: nothing, onReload }
  return render(<Viewfinder video={video} state={state} decoder={decoder} texts={copy.scan} {...rest} />)
}

const statusText = () => screen.getByRole('status').textContent

it('says that what reads codes is loading, then that it takes long, then that it looks', () => {
  show('live', 'loading')
  expect(statusText()).toBe('Menyiapkan pemindai…')
  cleanup()
  show('live', 'slow')
  expect(statusText()).toMatch(/^Koneksi lambat, pemindai masih dimuat/)
  cleanup()
  show('live', 'ready')
  expect(statusText()).toBe('Mencari kode QR…')
})

it('the camera is asked for first; one that fails is said whatever reads codes', () => {
  show('starting', 'slow')
  expect(statusText()).toBe('Menyalakan kamera…')
  cleanup()
  show('refused', 'failed')
  expect(statusText()).toMatch(/^Kamera tidak diizinkan/)
})

it('what could not be fetched can be asked for again', async () => {
  const onReload = vi.fn()
  show('live', 'failed', onReload)
  expect(statusText()).toMatch(/^Pemindai belum bisa dimuat/)
  await userEvent.click(screen.getByRole('button', { name: 'Coba lagi' }))
  expect(onReload).toHaveBeenCalledOnce()
})
