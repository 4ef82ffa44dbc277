import { Clock, House, type LucideIcon, ScanLine, UserRound, WalletMinimal } from 'lucide-react'
import { NavLink } from 'react-router'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { KEEP_CLEAR_BELOW } from '@/shared/lib/free-place'
import { paths } from '@/shared/lib/paths'
import styles from './bottom-bar.module.css'

export function BottomBar() {
  return (
    <nav className={styles.bar} aria-label={added.common.navigation} {...KEEP_CLEAR_BELOW}>
      <ul className={styles.items}>
        <Item to={paths.dashboard} icon={House} label={spec.home} />
        <Item to={paths.topUp} icon={WalletMinimal} label={spec.topUp} />
        <li style={{ display: 'contents' }}>
          <NavLink to={paths.scan} className={styles.scan} aria-label={added.common.scanMachine}>
            <ScanLine size={30} aria-hidden />
          </NavLink>
        </li>
        <Item to={paths.riwayat} icon={Clock} label={spec.history} />
        <Item to={paths.akun} icon={UserRound} label={spec.account} />
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
