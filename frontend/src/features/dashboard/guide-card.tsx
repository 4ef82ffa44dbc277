import { Clock, type LucideIcon, ScanLine, UserRound, WalletMinimal } from 'lucide-react'
import { added } from '@/shared/copy/added'
import { Card } from '@/shared/ui/card'
import styles from './dashboard-page.module.css'

const langkah: [LucideIcon, string][] = [
  [ScanLine, added.dashboard.langkahScan],
  [WalletMinimal, added.dashboard.langkahTopUp],
  [Clock, added.dashboard.langkahRiwayat],
  [UserRound, added.dashboard.langkahAkun],
]

/** Shown while no machine runs: what each button of the bar is for. */
export function GuideCard() {
  return (
    <Card className={styles.guide}>
      <h2 className={styles.heading}>{added.dashboard.selamatDatang}</h2>
      <ul className={styles.steps}>
        {langkah.map(([Icon, text]) => (
          <li key={text} className={styles.step}>
            <span className={styles.stepIcon}>
              <Icon size={20} aria-hidden />
            </span>
            {text}
          </li>
        ))}
      </ul>
    </Card>
  )
}
