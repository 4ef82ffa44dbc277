import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useNavigate } from 'react-router'
import { historyQueries } from '@/features/history/calls'
import { dashboardQuery, epayQuery } from '@/shared/api/dashboard'
import { pendingMoveQuery } from '@/shared/api/pending-move'
import { isRecord } from '@/shared/lib/session/storage'
import { toast } from '@/shared/lib/toast/toast'

/** Handles the service worker's messages: push messages while the app is visible, and the screen that a notification opens. */
export function useFollowPush(): void {
  const client = useQueryClient()
  const navigate = useNavigate()
  useEffect(() => {
    const { serviceWorker } = navigator
    if (!serviceWorker) return
    const onMessage = ({ data }: MessageEvent) => {
      if (!isRecord(data)) return
      if (typeof data.open === 'string') navigate(data.open)
      if (!isRecord(data.push)) return
      // The push may mean a refund, an answer to a complaint, or a move to another number.
      for (const { queryKey } of [dashboardQuery(), epayQuery(), historyQueries, pendingMoveQuery()])
        void client.invalidateQueries({ queryKey })
      toast.info(String(data.push.judul), String(data.push.isi))
    }
    serviceWorker.addEventListener('message', onMessage)
    return () => serviceWorker.removeEventListener('message', onMessage)
  }, [client, navigate])
}
