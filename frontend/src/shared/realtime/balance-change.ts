import { isRecord } from '@/shared/lib/session/storage'

const CAUSES = ['topup', 'batal', 'refund', 'hapus', 'penarikan'] as const

/** A change notification for a balance that staff moved: the wallet's new balance (rupiah), and the cause. */
export interface BalanceChange {
  idcustomer: number
  saldo: number
  sebab: (typeof CAUSES)[number]
}

export const isBalanceChange = (message: unknown): message is BalanceChange =>
  isRecord(message) &&
  Number.isSafeInteger(message.idcustomer) &&
  Number.isSafeInteger(message.saldo) &&
  CAUSES.some((cause) => cause === message.sebab)
