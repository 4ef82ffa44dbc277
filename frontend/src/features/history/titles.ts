import type { RefType } from '@/shared/api/model'
import { copy } from '@/shared/copy/copy'
import { balanceTexts } from './balance-copy'
import { reversed } from './reversal-copy'

/** The title of an entry, in the list and over its detail (docs/product.md §2). */
export const titles: Record<RefType, string> = {
  ...copy.history.detailTitle,
  pembelian_emoney_batal: reversed.title,
  ...balanceTexts.titles,
}
