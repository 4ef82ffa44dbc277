import type { QueryClient } from '@tanstack/react-query'
import { historyQueries } from '@/features/history/calls'
import { ownerEpayQueries } from '@/features/purchase/calls'
import { dashboardQuery, epayQuery } from '@/shared/api/dashboard'
import type { AkunEpay } from '@/shared/api/model'
import type { BalanceNews } from '@/shared/realtime/balance-news'

/** Lists of accounts: all of them, and those at one owner's outlets. */
const ACCOUNTS = [epayQuery().queryKey, ownerEpayQueries.queryKey]

/** What else a movement changes, the accounts' other fields included: an account may be new. */
const CHANGED = [...ACCOUNTS, dashboardQuery().queryKey, historyQueries.queryKey]

/** A balance that staff moved is shown at once, and the server is asked for what came with it. */
export function takeBalance(client: QueryClient, { idcustomer, saldo }: BalanceNews): void {
  // An answer that is under way may be older than this.
  for (const queryKey of CHANGED) void client.cancelQueries({ queryKey })
  for (const queryKey of ACCOUNTS) {
    for (const { queryKey: list, state } of client.getQueryCache().findAll({ queryKey })) {
      client.setQueryData<AkunEpay[]>(
        list,
        (accounts) => accounts?.map((one) => (one.idcustomer === idcustomer ? withBalance(one, saldo) : one)),
        // As old as it was: nothing was heard of the other accounts.
        { updatedAt: state.dataUpdatedAt },
      )
    }
  }
  for (const queryKey of CHANGED) void client.invalidateQueries({ queryKey })
}

const withBalance = (account: AkunEpay, saldo: number): AkunEpay =>
  account.quota_emoney ? { ...account, quota_emoney: { ...account.quota_emoney, saldo } } : account
