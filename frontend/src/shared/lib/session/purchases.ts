import type { Dashboard, SnapTransaksi } from '@/shared/api/model'

const FINISHED = 4
const RUNNING = 3

/** Time after which the server refunds held money if the machine has not answered (docs/contract.md §1). */
const HELD_MS = 15 * 60_000

/** Open purchases; the server sends only those, the app filters them anyway (docs/contract.md §2). */
export function unfinished(dashboard: Dashboard | undefined): SnapTransaksi[] {
  return (dashboard?.list_snap_transaksi ?? []).filter(
    ({ snap_transaksi_detail: [detail] }) => detail !== undefined && detail.status !== FINISHED,
  )
}

/** The purchase's money is held, and the machine has not answered. */
export const isWaiting = (purchase: SnapTransaksi): boolean =>
  (purchase.snap_transaksi_detail[0]?.status ?? 0) < RUNNING

/** The latest time at which the money of a waiting purchase is back, epoch ms. */
export const heldUntil = ({ created_at }: SnapTransaksi): number => Date.parse(created_at) + HELD_MS

/** The customer's own open purchase at a machine. */
export const ownAt = (dashboard: Dashboard | undefined, idmesin: number): SnapTransaksi | undefined =>
  unfinished(dashboard).find(({ snap_transaksi_detail: [detail] }) => detail?.idmesin === idmesin)
