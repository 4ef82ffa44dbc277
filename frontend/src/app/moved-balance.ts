import type { QueryClient } from '@tanstack/react-query'
import { historyQueries } from '@/features/history/calls'
import { ownerEpayQueries } from '@/features/purchase/calls'
import { dashboardQuery, epayQuery } from '@/shared/api/dashboard'
import type { AkunEpay } from '@/shared/api/model'
import type { BalanceChange } from '@/shared/realtime/balance-change'

/** Lists of wallets: all of them, and those at one owner's outlets. */
const ACCOUNTS = [epayQuery().queryKey, ownerEpayQueries.queryKey]

/** Other queries that a movement changes, including the wallets' other fields: a wallet may be new. */
const CHANGED = [...ACCOUNTS, dashboardQuery().queryKey, historyQueries.queryKey]

/** Shows a balance that staff changed at once, and refetches what changed with it. */
export function takeBalance(client: QueryClient, { idcustomer, saldo }: BalanceChange): void {
  // An answer in flight may be older than this change.
  for (const queryKey of CHANGED) void client.cancelQueries({ queryKey })
  for (const queryKey of ACCOUNTS) {
    for (const { queryKey: list, state } of client.getQueryCache().findAll({ queryKey })) {
      client.setQueryData<AkunEpay[]>(
        list,
        (accounts) => accounts?.map((one) => (one.idcustomer === idcustomer ? withBalance(one, saldo) : one)),
        // The list keeps its age: nothing was received about the other wallets.
        { updatedAt: state.dataUpdatedAt },
      )
    }
  }
  for (const queryKey of CHANGED) void client.invalidateQueries({ queryKey })
}

const withBalance = (account: AkunEpay, saldo: number): AkunEpay =>
  account.quota_emoney ? { ...account, quota_emoney: { ...account.quota_emoney, saldo } } : account
