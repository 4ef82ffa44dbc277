import { Clock, House, type LucideIcon, ScanLine, UserRound, WalletMinimal } from 'lucide-react'
import { NavLink } from 'react-router'
import { copy } from '@/shared/copy/copy'
import { paths } from '@/shared/lib/page/paths'
import { useStuckHeight } from '@/shared/lib/page/stuck-height'
import styles from './bottom-bar.module.css'

export function BottomBar() {
  const ref = useStuckHeight<HTMLElement>('--stuck-bar')
  return (
    <nav ref={ref} className={styles.bar} aria-label={copy.common.navigation}>
      <ul className={styles.items}>
        <Item to={paths.dashboard} icon={House} label={copy.bar.home} />
        <Item to={paths.topUp} icon={WalletMinimal} label={copy.bar.topUp} />
        <li style={{ display: 'contents' }}>
          <NavLink to={paths.scan} className={styles.scan} aria-label={copy.common.scanMachine}>
            <ScanLine size={30} aria-hidden />
          </NavLink>
        </li>
        <Item to={paths.riwayat} icon={Clock} label={copy.bar.history} />
        <Item to={paths.akun} icon={UserRound} label={copy.bar.account} />
      </ul>
    </nav>
  )
}

function Item({ to, icon: Icon, label }: { to: string; icon: LucideIcon; label: string }) {
  return (
    <li>
      <NavLink to={to} className={styles.item}>
        <span className={styles.icon}>
          <Icon size={24} aria-hidden />
        </span>
        <span className={styles.label}>{label}</span>
      </NavLink>
    </li>
  )
}
