import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from 'react-router'
import { dashboardQuery } from '@/shared/api/dashboard'
import { type ApiError, explain, explanation } from '@/shared/api/error'
import type { LastUse, Layanan } from '@/shared/api/model'
import { useSend } from '@/shared/api/use-send'
import { copy } from '@/shared/copy/copy'
import { later } from '@/shared/copy/later'
import { paths } from '@/shared/lib/page/paths'
import { ownAt } from '@/shared/lib/session/purchases'
import { toast } from '@/shared/lib/toast/toast'
import { getEpayOfOwner, getServices, ownerEpayQuery, servicesQuery } from '../calls'
import { dropReceipt, purchaseFlow } from '../purchase-flow'
import { sameService } from './again'

/**
 * Leads from a sticker's text or a typed code to the service list: finds the machine, then a wallet that can pay (docs/product.md §8).
 * Failures stay on this screen. `again`: the service to buy again; with it the customer goes straight to the payment.
 */
export function useFindMachine(again: LastUse | null, onWithoutEpay: () => void) {
  const client = useQueryClient()
  const navigate = useNavigate()

  /** The customer's own purchase at a machine that is not free; undefined if the request fails. */
  async function ownPurchase({ data_mesin: { id, status } }: Layanan) {
    if (status === 'idle') return undefined
    const home = await client
      .fetchQuery({ ...dashboardQuery(), staleTime: 0, retry: false })
      .catch(() => undefined)
    return ownAt(home, id)
  }

  const { pending, submit } = useSend({
    send: async (qr: string) => {
      const found = await getServices({ qr, skip: 0 })
      const [accounts, service, own] = await Promise.all([
        getEpayOfOwner(found.data_mesin.idowner),
        again ? sameService(qr, found, again) : undefined,
        ownPurchase(found),
      ])
      return { found, accounts, service, own }
    },
    texts: failureTexts,
    onDone({ found, accounts, service, own }, qr) {
      // A customer whose last money is held by this very machine sees that, and not that there is no wallet.
      if (accounts.length === 0 && !own) {
        toast.failure(copy.scan.quotaNotFound, copy.scan.quotaNotFoundBody)
        return onWithoutEpay()
      }
      const { data_mesin: mesin } = found
      client.setQueryData(servicesQuery(qr).queryKey, { pages: [found], pageParams: [0] })
      client.setQueryData(ownerEpayQuery(mesin.idowner).queryKey, accounts)
      dropReceipt()
      purchaseFlow.write({ qr, mesin })
      toast.success(copy.scan.servicesFound)
      if (service === null) toast.info(later.again.gone, later.again.goneBody)
      // A machine that is not free shows that on its service list.
      if (!service || mesin.status !== 'idle') {
        // The service is kept for another machine, if the outlet has it.
        return navigate(paths.pilihLayanan, { state: { again: service === null ? null : again } })
      }
      const epay = accounts.find(({ idcustomer }) => idcustomer === again?.idcustomer)
      const enough = (epay?.quota_emoney?.saldo ?? 0) >= service.harga
      purchaseFlow.write({ qr, mesin, layanan: service, ...(epay && enough ? { epay } : {}) })
      navigate(epay && enough ? paths.pembayaran : paths.pilihEpay)
    },
  })

  return {
    pending,
    byCode: submit,
    /** Submits the text of a sticker of ours. */
    byQr: submit,
    /** Refuses any other code without a request. */
    foreign: () => toast.failure(copy.scan.machineNotFound, copy.scan.notMachineQr),
  }
}

function failureTexts(error: ApiError) {
  if (error.unanswered) return explain(error)
  const body = error.status === 404 ? copy.scan.machineNotFoundBody : explanation(error)
  return { title: copy.scan.machineNotFound, body }
}
