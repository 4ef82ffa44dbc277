import type { RefType } from '@/shared/api/model'
import { spec } from '@/shared/copy/spec'
import { voided } from './voided-copy'

/** The title of an entry, in the list and over its detail (docs/product.md §2). */
export const titles: Record<RefType, string> = {
  ...spec.detailTitle,
  pembelian_emoney_batal: voided.title,
}
