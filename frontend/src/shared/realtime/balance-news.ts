import { isRecord } from '@/shared/lib/session/storage'

const CAUSES = ['topup', 'batal', 'refund', 'hapus'] as const

/** A change notification for a balance that staff moved: the wallet's new balance (rupiah), and the cause. */
export interface BalanceNews {
  idcustomer: number
  saldo: number
  sebab: (typeof CAUSES)[number]
}

export const isBalanceNews = (message: unknown): message is BalanceNews =>
  isRecord(message) &&
  Number.isSafeInteger(message.idcustomer) &&
  Number.isSafeInteger(message.saldo) &&
  CAUSES.some((cause) => cause === message.sebab)
