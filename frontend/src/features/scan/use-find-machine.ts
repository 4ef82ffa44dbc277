import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { asApiError, explain, explanation } from '@/shared/api/error'
import { keys } from '@/shared/api/keys'
import { getEpayOfOwner, getServices } from '@/shared/api/purchase'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { isMachineQr } from '@/shared/lib/machine-code'
import { paths } from '@/shared/lib/paths'
import { dropReceipt, purchaseFlow } from '@/shared/lib/purchase-flow'
import { toast } from '@/shared/lib/toast'
import { useSubmit } from '@/shared/lib/use-submit'

/**
 * From a sticker's text or a typed code to the service list: the machine, then whether there is an
 * E-Pay to pay with (docs/product.md §8). Failures stay on this screen.
 */
export function useFindMachine() {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [withoutEpay, setWithoutEpay] = useState(false)

  const { pending, submit } = useSubmit(async (qr: string) => {
    try {
      const found = await getServices({ qr, skip: 0 })
      const accounts = await getEpayOfOwner(found.data_mesin.idowner)
      if (accounts.length === 0) {
        toast.failure(spec.quotaNotFound, added.scan.quotaNotFoundBody)
        setWithoutEpay(true)
        return
      }
      client.setQueryData(keys.services(qr, ''), { pages: [found], pageParams: [0] })
      client.setQueryData(keys.ownerEpay(found.data_mesin.idowner), accounts)
      dropReceipt()
      purchaseFlow.write({ qr, mesin: found.data_mesin })
      toast.success(spec.servicesFound)
      navigate(paths.pilihLayanan)
    } catch (error) {
      tellFailure(error)
    }
  })

  return {
    pending,
    withoutEpay,
    closeWithoutEpay: () => setWithoutEpay(false),
    byCode: submit,
    /** A scanned text: only our own stickers are asked for. */
    byQr(text: string) {
      if (isMachineQr(text)) submit(text)
      else toast.failure(spec.machineNotFound, added.scan.notMachineQr)
    },
  }
}

function tellFailure(error: unknown): void {
  const { status, unanswered } = asApiError(error)
  const { title, body } = explain(error)
  if (unanswered) toast.failure(title, body)
  else if (status === 404) toast.failure(spec.machineNotFound, added.scan.machineNotFoundBody)
  else toast.failure(spec.machineNotFound, explanation(error))
}
