import { Clock, type LucideIcon, ScanLine, UserRound, WalletMinimal } from 'lucide-react'
import { added } from '@/shared/copy/added'
import { Guide } from '@/shared/ui/guide'

const langkah: [LucideIcon, string][] = [
  [ScanLine, added.dashboard.langkahScan],
  [WalletMinimal, added.dashboard.langkahTopUp],
  [Clock, added.dashboard.langkahRiwayat],
  [UserRound, added.dashboard.langkahAkun],
]

/** Shown while no machine runs: what each button of the bar is for. */
export function GuideCard() {
  return <Guide title={added.dashboard.selamatDatang} steps={langkah} />
}
