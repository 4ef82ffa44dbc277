import { useIsFetching, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useLocation } from 'react-router'
import { useUpdate } from '@/app/update'
import { copy } from '@/shared/copy/copy'
import { paths } from '@/shared/lib/page/paths'
import { useStuckHeight } from '@/shared/lib/page/stuck-height'
import { whenIdle } from '@/shared/lib/page/when-idle'
import { warmDrag } from '@/shared/ui/warm-drag'
import styles from './update-notice.module.css'

/** Screens that lose nothing, not even a message, when their address is reloaded. */
const QUIET: readonly string[] = [paths.riwayat, paths.akun, paths.topUp]
/** Screens where nothing may come between the customer and the machine. */
const BUSY: readonly string[] = [paths.scan, paths.pilihLayanan, paths.pilihEpay, paths.pembayaran]

/**
 * Offers a new version, and activates it without a tap when a quiet screen is opened: that screen is then loaded from the new version. An
 * old version stays no longer than that.
 */
export function UpdateNotice() {
  const apply = useUpdate((state) => state.apply)
  const { pathname } = useLocation()
  const shownAt = useRef(pathname)

  const client = useQueryClient()
  const waiting = useIsFetching() > 0
  useEffect(() => {
    // The service worker fetches the whole app, so the customer's data goes first on a weak network.
    if (waiting) return
    whenIdle()
      .then(async () => {
        if (client.isFetching() > 0) return
        warmDrag()
        const { startServiceWorker } = await import('@/app/start-service-worker')
        await startServiceWorker()
      })
      .catch(() => undefined)
  }, [waiting, client])
  useEffect(() => {
    if (shownAt.current === pathname) return
    shownAt.current = pathname
    if (QUIET.includes(pathname)) useUpdate.getState().apply?.()
  }, [pathname])

  if (!apply || BUSY.includes(pathname)) return null
  return <Notice apply={apply} />
}

function Notice({ apply }: { apply: () => void }) {
  const [taking, setTaking] = useState(false)
  const ref = useStuckHeight<HTMLDivElement>('--stuck-notice')
  return (
    <div ref={ref} role="status" className={styles.notice}>
      {copy.common.newVersion}
      <button
        type="button"
        className={styles.take}
        disabled={taking}
        onClick={() => {
          setTaking(true)
          apply()
        }}
      >
        {copy.common.reload}
      </button>
    </div>
  )
}
