import type { AkunEpay } from '@/shared/api/model'

/** `jenis_emoney` of a balance that never expires. */
const TANPA_KEDALUWARSA = 2

/** When the balance expires, epoch ms; null for one that never does. */
export function kedaluwarsaPada({ quota_emoney }: AkunEpay): number | null {
  if (quota_emoney?.jenis_emoney === TANPA_KEDALUWARSA) return null
  return quota_emoney?.masa_aktif ?? 0
}

const berlaku = (akun: AkunEpay, now: number): boolean => {
  const pada = kedaluwarsaPada(akun)
  return pada === null || pada >= now
}

/** Usable (product.md §5): an outlet, a balance that is not zero, and not expired unless of type 2. */
export function dapatDipakai(akun: AkunEpay, now: number): boolean {
  return (
    akun.outlet !== null && akun.quota_emoney !== null && akun.quota_emoney.saldo !== 0 && berlaku(akun, now)
  )
}

/** The dashboard's cards: the usable accounts, plus type 2 at zero; the rest is hidden. */
export function tampilDiDashboard(akun: AkunEpay, now: number): boolean {
  const kosongTipeDua =
    akun.outlet !== null &&
    akun.quota_emoney?.saldo === 0 &&
    akun.quota_emoney.jenis_emoney === TANPA_KEDALUWARSA
  return kosongTipeDua || dapatDipakai(akun, now)
}
