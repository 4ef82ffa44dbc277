import { RefreshCw } from 'lucide-react'
import { useRef, useState } from 'react'
import { keptHome } from '@/shared/api/kept-home'
import { useAccount } from '@/shared/api/use-account'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { groupedTelp } from '@/shared/lib/format'
import { paths } from '@/shared/lib/paths'
import { useHome } from '@/shared/lib/trail'
import { Button } from '@/shared/ui/button'
import { Guide } from '@/shared/ui/guide'
import { Page } from '@/shared/ui/page'
import { paidIn as words } from './paid-in-copy'
import { PaidInNote } from './paid-in-note'
import { QrPanel } from './qr-panel'
import styles from './top-up-page.module.css'
import { usePaidIn } from './use-paid-in'
import { useWakeLock } from './use-wake-lock'

export default function TopUpPage() {
  const { paidIn, again } = usePaidIn()
  const home = useHome()
  const ticket = useRef<HTMLElement>(null)

  return (
    <Page
      title={spec.topUp}
      back={paths.dashboard}
      backAlways
      footer={
        paidIn && (
          <>
            <Button onClick={home}>{words.done}</Button>
            <Button
              variant="secondary"
              onClick={() => {
                again()
                // The button goes, and would take the focus with it.
                ticket.current?.focus()
              }}
            >
              {words.again}
            </Button>
          </>
        )
      }
    >
      <section ref={ticket} tabIndex={-1} className={styles.ticket}>
        {/* There before its words, so that a screen reader says them when they come. */}
        <div role="status">{paidIn && <PaidInNote {...paidIn} />}</div>
        {!paidIn && <Code />}
      </section>
      {!paidIn && <Guide title={spec.howToTopUp} steps={added.topUp.steps} />}
    </Page>
  )
}

/** What the cashier needs: the code, and the number where no code can be read. */
function Code() {
  const account = useAccount()
  const [seen] = useState(keptHome.load)
  // Who has seen only the dashboard has seen the number, too: without network it is all that the cashier can use.
  const telp = account.data?.telp ?? seen?.data.dashboard.customer_global.telp
  useWakeLock()
  return (
    <>
      <QrPanel />
      {(telp || !account.error) && (
        <>
          <p className={styles.caption}>{added.topUp.yourNumber}</p>
          <p className={`digits ${styles.number}`} translate="no">
            {telp ? groupedTelp(telp) : '\u00a0'}
          </p>
        </>
      )}
      <p className={styles.note}>
        <RefreshCw size={16} aria-hidden />
        {added.topUp.updated}
      </p>
    </>
  )
}
