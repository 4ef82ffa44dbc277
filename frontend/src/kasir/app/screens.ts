import { Banknote, type LucideIcon, ReceiptText, ScanLine } from 'lucide-react'
import type { ComponentType } from 'react'
import ShiftPage from '@/kasir/features/shift/shift-page'
import TillPage from '@/kasir/features/till/till-page'
import TransactionsPage from '@/kasir/features/transaksi/transaksi-page'
import { paths } from '@/kasir/lib/router'

export interface Screen {
  path: string
  /** The heading, and the word below the icon. */
  title: string
  icon: LucideIcon
  page: ComponentType
  /** Of a till alone: a person's own browser has no drawer. */
  sells: boolean
}

/** The till itself; its place in the navigation is the big scan button. */
export const till: Screen = {
  path: paths.till,
  title: 'Isi Saldo',
  icon: ScanLine,
  page: TillPage,
  sells: true,
}

/** The other screens, in the order of the navigation. A line here gives one its address and its entry. */
export const screens: Screen[] = [
  { path: paths.transactions, title: 'Transaksi', icon: ReceiptText, page: TransactionsPage, sells: false },
  { path: paths.shift, title: 'Shift', icon: Banknote, page: ShiftPage, sells: true },
]

export const screenAt = (path: string): Screen | undefined =>
  [till, ...screens].find((one) => one.path === path)
