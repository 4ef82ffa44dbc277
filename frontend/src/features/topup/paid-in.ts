import type { AkunEpay } from '@/shared/api/model'
import type { BalanceChange } from '@/shared/realtime/balance-change'

/** A top-up that arrived while the code was shown. */
export interface PaidIn {
  idcustomer: number
  /** The wallet's balance then, rupiah. */
  balance: number
  /** The amount of the top-up; null when the balance before is unknown. */
  amount: number | null
}

export interface Watched {
  /** Last known balances by wallet; null before the wallets have been fetched. */
  known: ReadonlyMap<number, number> | null
  /** A new object for each top-up. */
  paidIn: PaidIn | null
}

export const START: Watched = { known: null, paidIn: null }

export type PaidInEvent =
  /** A notification from the socket. */
  | { change: BalanceChange }
  /** The server's answer to a request of this screen. */
  | { accounts: readonly AkunEpay[] }
  /** The customer wants the code again. */
  | 'again'

/**
 * The state machine of the top-up screen. Two sources report a top-up; the first one shows it, and the second one must not count as
 * another top-up.
 */
export function step(watched: Watched, event: PaidInEvent): Watched {
  if (event === 'again') return { ...watched, paidIn: null }
  return 'change' in event ? onBalanceChange(watched, event.change) : onAccounts(watched, event.accounts)
}

function onBalanceChange(
  { known, paidIn }: Watched,
  { idcustomer, saldo: balance, sebab }: BalanceChange,
): Watched {
  const before = known && (known.get(idcustomer) ?? 0)
  const next = known && new Map(known).set(idcustomer, balance)
  const same = paidIn?.idcustomer === idcustomer
  if (sebab !== 'topup') return { known: next, paidIn: sebab === 'batal' && same ? null : paidIn }
  if (same && before === balance) return { known: next, paidIn }
  const amount = before !== null && balance > before ? balance - before : null
  return { known: next, paidIn: { idcustomer, balance, amount } }
}

function onAccounts({ known, paidIn }: Watched, accounts: readonly AkunEpay[]): Watched {
  const now = accounts.map(
    ({ idcustomer, quota_emoney }) => [idcustomer, quota_emoney?.saldo ?? 0] as [number, number],
  )
  // A wallet from a socket notification may not be listed yet.
  const next = new Map([...(known ?? []), ...now])
  for (const [idcustomer, balance] of known ? now : []) {
    const before = known?.get(idcustomer) ?? 0
    if (balance > before) return { known: next, paidIn: { idcustomer, balance, amount: balance - before } }
  }
  return { known: next, paidIn }
}
