import type { AkunEpay } from '@/shared/api/model'

/** `jenis_emoney` of a balance that never expires. */
const NEVER_EXPIRES = 2

/** When the balance expires, epoch ms; null for one that never does. */
export function expiresAt({ quota_emoney }: AkunEpay): number | null {
  if (quota_emoney?.jenis_emoney === NEVER_EXPIRES) return null
  return quota_emoney?.masa_aktif ?? 0
}

const isCurrent = (account: AkunEpay, now: number): boolean => {
  const at = expiresAt(account)
  return at === null || at >= now
}

/** Usable (docs/product.md §5): an outlet, a balance that is not zero, and not expired unless of type 2. */
export function isUsable(account: AkunEpay, now: number): boolean {
  return (
    account.outlet !== null &&
    account.quota_emoney !== null &&
    account.quota_emoney.saldo !== 0 &&
    isCurrent(account, now)
  )
}

/** The dashboard's cards: the usable accounts, plus type 2 at zero; the rest is hidden. */
export function isOnDashboard(account: AkunEpay, now: number): boolean {
  const emptyForever =
    account.outlet !== null &&
    account.quota_emoney?.saldo === 0 &&
    account.quota_emoney.jenis_emoney === NEVER_EXPIRES
  return emptyForever || isUsable(account, now)
}
