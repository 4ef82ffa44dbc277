import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useNavigate } from 'react-router'
import { dashboardQuery, epayQuery } from '@/shared/api/dashboard'
import { isRecord } from '@/shared/lib/storage'
import { toast } from '@/shared/lib/toast'

/** What the service worker has to say: news while the app is in sight, and the screen that a notification leads to. */
export function useFollowPush(): void {
  const client = useQueryClient()
  const navigate = useNavigate()
  useEffect(() => {
    const { serviceWorker } = navigator
    if (!serviceWorker) return
    const hear = ({ data }: MessageEvent) => {
      if (!isRecord(data)) return
      if (typeof data.open === 'string') navigate(data.open)
      if (!isRecord(data.push)) return
      // It may be that money is back.
      for (const { queryKey } of [dashboardQuery(), epayQuery()]) void client.invalidateQueries({ queryKey })
      toast.info(String(data.push.judul), String(data.push.isi))
    }
    serviceWorker.addEventListener('message', hear)
    return () => serviceWorker.removeEventListener('message', hear)
  }, [client, navigate])
}
