import { useAccount } from '@/shared/api/use-account'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { groupedTelp } from '@/shared/lib/format'
import { paths } from '@/shared/lib/paths'
import { Guide } from '@/shared/ui/guide'
import { Page } from '@/shared/ui/page'
import { QrPanel } from './qr-panel'
import styles from './top-up-page.module.css'
import { useWakeLock } from './use-wake-lock'

export default function TopUpPage() {
  const account = useAccount()
  useWakeLock()
  return (
    <Page title={spec.topUp} back={paths.dashboard} backAlways>
      <section className={styles.ticket}>
        <QrPanel />
        {(account.data || !account.error) && (
          <>
            <p className={styles.caption}>{added.topUp.yourNumber}</p>
            <p className={`digits ${styles.number}`}>
              {account.data ? groupedTelp(account.data.telp) : '\u00a0'}
            </p>
          </>
        )}
      </section>
      <Guide title={spec.howToTopUp} steps={added.topUp.steps} />
    </Page>
  )
}
