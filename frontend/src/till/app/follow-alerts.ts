import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { isRecord } from '@/shared/lib/session/storage'
import { keys } from '@/till/api/keys'
import { hrefOf, navigate, paths } from '@/till/lib/page/router'
import { wantsAlerts } from '@/till/lib/push/wants-alerts'
import { useSession } from '@/till/lib/session/session'

/** Handles the messages of the service worker that shows alerts, and renews its subscription at a login. Used once, around all screens. */
export function useFollowAlerts(): void {
  const client = useQueryClient()
  const someone = useSession(({ session }) => session !== null)
  useEffect(() => {
    if (someone && wantsAlerts.read())
      void import('@/till/lib/push/push').then(({ checkAlerts }) => checkAlerts()).catch(() => undefined)
  }, [someone])
  useEffect(() => {
    const { serviceWorker } = navigator
    if (!serviceWorker) return
    const onMessage = ({ data }: MessageEvent) => {
      if (!isRecord(data)) return
      void client.invalidateQueries({ queryKey: keys.attention })
      const base = hrefOf(paths.till)
      if (typeof data.open === 'string' && data.open.startsWith(base))
        navigate(data.open.slice(base.length) || '/')
    }
    serviceWorker.addEventListener('message', onMessage)
    return () => serviceWorker.removeEventListener('message', onMessage)
  }, [client])
}
