import { Clock, type LucideIcon, ScanLine, UserRound, WalletMinimal } from 'lucide-react'
import { copy } from '@/shared/copy/copy'
import { Guide } from '@/shared/ui/guide'

const steps: [LucideIcon, string][] = [
  [ScanLine, copy.dashboard.stepScan],
  [WalletMinimal, copy.dashboard.stepTopUp],
  [Clock, copy.dashboard.stepHistory],
  [UserRound, copy.dashboard.stepAccount],
]

/** Shown while no machine runs: explains each button of the bar. */
export function GuideCard() {
  return <Guide title={copy.dashboard.welcome} steps={steps} />
}
