import type { AkunEpay } from '@/shared/api/model'
import type { BalanceNews } from '@/shared/realtime/balance-news'

/** Money that came in while the code was shown. */
export interface PaidIn {
  idcustomer: number
  /** What the account had then, rupiah. */
  balance: number
  /** How much came in; null when what there was before is not known. */
  amount: number | null
}

export interface Watched {
  /** Balances by account, as they were last heard; null before the accounts have been fetched. */
  known: ReadonlyMap<number, number> | null
  /** Another object for each time that money came in. */
  paidIn: PaidIn | null
}

export const START: Watched = { known: null, paidIn: null }

export type Word =
  /** Of the socket. */
  | { news: BalanceNews }
  /** Of the server, asked by this screen. */
  | { accounts: readonly AkunEpay[] }
  /** The customer wants the code again. */
  | 'again'

/** Two ways tell of money, and whichever comes first shows it: the other one is no second time. */
export function step(watched: Watched, word: Word): Watched {
  if (word === 'again') return { ...watched, paidIn: null }
  return 'news' in word ? onNews(watched, word.news) : onAccounts(watched, word.accounts)
}

function onNews({ known, paidIn }: Watched, { idcustomer, saldo: balance, sebab }: BalanceNews): Watched {
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
  // An account that the socket told of may not be listed yet.
  const next = new Map([...(known ?? []), ...now])
  for (const [idcustomer, balance] of known ? now : []) {
    const before = known?.get(idcustomer) ?? 0
    if (balance > before) return { known: next, paidIn: { idcustomer, balance, amount: balance - before } }
  }
  return { known: next, paidIn }
}
