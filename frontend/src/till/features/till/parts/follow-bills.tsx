import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { keys } from '@/till/api/keys'
import { type KeptBill, keptBills, useKeptBills } from '@/till/lib/money/bills'
import { notify } from '@/till/lib/page/notices'
import { paths, usePath } from '@/till/lib/page/router'
import { shownBill, useDraft } from '../draft'
import { qris } from './parts-copy'
import { isUnknown, isWaiting, useBill } from './use-bill'

/** Tells how each waiting bill ended, whatever screen is shown. Used once, around all screens. */
export const FollowBills = () => useKeptBills().map((kept) => <Follow key={kept.id} kept={kept} />)

function Follow({ kept }: { kept: KeptBill }) {
  const { id, nama, nominal } = kept
  const client = useQueryClient()
  const { data, error } = useBill(id)
  const shown = useDraft((state) => shownBill(state)?.id === id)
  const seen = usePath() === paths.till && shown
  const ended = data && !isWaiting(data.status) ? data.status : null
  const unknown = isUnknown(error)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once an end
  useEffect(() => {
    if (ended !== null)
      for (const queryKey of [keys.topUps, keys.shift]) void client.invalidateQueries({ queryKey })
    if (unknown || (ended !== null && seen)) keptBills.remove(id)
    else if (ended !== null && kept.ended === undefined) {
      keptBills.put({ ...kept, ended })
      if (ended === 'tertahan') notify.failure(qris.told(ended, nominal, nama))
      else notify.info(qris.told(ended, nominal, nama))
    }
  }, [ended, unknown, seen])
  return null
}
