import { Clock, type LucideIcon, ScanLine, UserRound, WalletMinimal } from 'lucide-react'
import { added } from '@/shared/copy/added'
import { Guide } from '@/shared/ui/guide'

const steps: [LucideIcon, string][] = [
  [ScanLine, added.dashboard.stepScan],
  [WalletMinimal, added.dashboard.stepTopUp],
  [Clock, added.dashboard.stepHistory],
  [UserRound, added.dashboard.stepAccount],
]

/** Shown while no machine runs: explains each button of the bar. */
export function GuideCard() {
  return <Guide title={added.dashboard.welcome} steps={steps} />
}
