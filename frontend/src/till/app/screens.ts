import {
  Banknote,
  Bell,
  ChartColumn,
  type LucideIcon,
  ReceiptText,
  ScanLine,
  SlidersHorizontal,
  WashingMachine,
} from 'lucide-react'
import type { ComponentType } from 'react'
import { lazyPage } from '@/shared/ui/lazy-page'
import TillPage from '@/till/features/till/till-page'
import { paths } from '@/till/lib/page/router'

export interface Screen {
  path: string
  /** The heading, and the label below the icon. */
  title: string
  icon: LucideIcon
  page: ComponentType
  /** Only for a till: a person's own browser has no drawer. */
  sells: boolean
  /** Reached from another screen, without an entry in the navigation. */
  unlisted?: true
  /** Without the navigation and the header. */
  bare?: true
  /** Only for a member of staff with at least one of these rights. */
  rights?: readonly string[]
}

/** The till itself; the big scan button leads to it. */
export const till: Screen = {
  path: paths.till,
  title: 'Isi Saldo',
  icon: ScanLine,
  page: TillPage,
  sells: true,
}

const TransactionsPage = lazyPage(() => import('@/till/features/transaksi/transaksi-page'))
const ShiftPage = lazyPage(() => import('@/till/features/shift/shift-page'))
const MachinesPage = lazyPage(() => import('@/till/features/mesin/mesin-page'))

const AttentionPage = lazyPage(() => import('@/till/features/perhatian/perhatian-page'))

const AlertsPage = lazyPage(() => import('@/till/features/pemberitahuan/pemberitahuan-page'))
const SummaryPage = lazyPage(() => import('@/till/features/ringkasan/ringkasan-page'))
const ManagePage = lazyPage(() => import('@/till/features/kelola/kelola-page'))

/** Fetches the screens besides the till: a tablet must not find out in the middle of a day that a part is missing. */
export const fetchScreens = () =>
  Promise.allSettled([
    TransactionsPage.fetch(),
    ShiftPage.fetch(),
    MachinesPage.fetch(),
    AttentionPage.fetch(),
  ])

/** Fetches the management and the figures, which most people at a till never open. */
export const fetchManagement = () => Promise.allSettled([ManagePage.fetch(), SummaryPage.fetch()])

export const MANAGEMENT_RIGHTS = [
  'layanan.buat',
  'layanan.ubah',
  'outlet.tutup',
  'outlet.buka',
  'outlet.ubah',
]

/** The other screens, in the order of the navigation. An entry here gives a screen its address and its link. */
export const screens: Screen[] = [
  {
    path: paths.summary,
    title: 'Ringkasan',
    icon: ChartColumn,
    page: SummaryPage,
    sells: false,
    rights: ['ringkasan.lihat'],
  },
  { path: paths.machines, title: 'Mesin', icon: WashingMachine, page: MachinesPage, sells: false },
  { path: paths.transactions, title: 'Transaksi', icon: ReceiptText, page: TransactionsPage, sells: false },
  { path: paths.attention, title: 'Perhatian', icon: Bell, page: AttentionPage, sells: false },
  {
    path: paths.alerts,
    title: 'Pemberitahuan',
    icon: Bell,
    page: AlertsPage,
    sells: false,
    unlisted: true,
  },
  { path: paths.shift, title: 'Shift', icon: Banknote, page: ShiftPage, sells: true },
  {
    path: paths.manage,
    title: 'Kelola',
    icon: SlidersHorizontal,
    page: ManagePage,
    sells: false,
    rights: MANAGEMENT_RIGHTS,
  },
  {
    path: paths.opening,
    title: 'Buka outlet baru',
    icon: SlidersHorizontal,
    page: ManagePage,
    sells: false,
    unlisted: true,
    bare: true,
    rights: ['outlet.buat'],
  },
]

export const screenAt = (path: string): Screen | undefined =>
  [till, ...screens].find((one) => one.path === path)
