import { BillPage } from './bill-page'
import { FollowBills } from './follow-bills'
import { MoreWays } from './more-ways'
import { ReferenceDialog } from './reference-dialog'
import { ReversalDialog } from './reversal-dialog'
import { Unregistered } from './unregistered'
import { WaitingMoney } from './waiting-money'

/** By the names by which the till asks for them (`use-parts.ts`). */
export const parts = {
  BillPage,
  FollowBills,
  MoreWays,
  ReferenceDialog,
  ReversalDialog,
  Unregistered,
  WaitingMoney,
}
