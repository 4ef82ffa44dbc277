import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { keys } from '@/till/api/keys'
import { NO_SHIFT_NOW, type ShiftNow } from '@/till/api/types'
import { notify } from '@/till/lib/page/notices'
import { useSession } from '@/till/lib/session/session'
import { onShiftChange } from '@/till/lib/shift/shift-change'

/** Stops sales here when another tab has closed the shift. Used once, around all screens. */
export function useFollowShift(): void {
  const client = useQueryClient()
  useEffect(
    () =>
      onShiftChange((closed) => {
        const known = client.getQueryData<ShiftNow>(keys.shift)?.shift
        if (closed !== null && known?.id === closed) {
          client.setQueryData<ShiftNow>(keys.shift, NO_SHIFT_NOW)
          if (useSession.getState().session) notify.info('Shift sudah ditutup di tab lain.')
        }
        for (const queryKey of [keys.shift, keys.device]) void client.invalidateQueries({ queryKey })
      }),
    [client],
  )
}
