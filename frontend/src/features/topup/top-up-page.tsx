import { RefreshCw } from 'lucide-react'
import { useRef, useState } from 'react'
import { keptHome } from '@/shared/api/kept-home'
import { useAccount } from '@/shared/api/use-account'
import { copy } from '@/shared/copy/copy'
import { paths } from '@/shared/lib/page/paths'
import { useHome } from '@/shared/lib/page/trail'
import { groupedTelp } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import { Guide } from '@/shared/ui/guide'
import { Page } from '@/shared/ui/page'
import { paidIn as texts } from './paid-in-copy'
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
      title={copy.bar.topUp}
      back={paths.dashboard}
      backAlways
      footer={
        paidIn && (
          <>
            <Button onClick={home}>{texts.done}</Button>
            <Button
              variant="secondary"
              onClick={() => {
                again()
                // The button disappears, and the focus would be lost with it.
                ticket.current?.focus()
              }}
            >
              {texts.again}
            </Button>
          </>
        )
      }
    >
      <section ref={ticket} tabIndex={-1} className={styles.ticket}>
        {/* The element exists before its text, so that a screen reader announces the text when it appears. */}
        <div role="status">{paidIn && <PaidInNote {...paidIn} />}</div>
        {!paidIn && <Code />}
      </section>
      {!paidIn && <Guide title={copy.topUp.howTo} steps={copy.topUp.steps} />}
    </Page>
  )
}

/** The code for the cashier, and the customer's number where no code can be read. */
function Code() {
  const account = useAccount()
  const [seen] = useState(keptHome.load)
  // A customer who has seen the dashboard has a stored number, too: without network the cashier can use only that.
  const telp = account.data?.telp ?? seen?.data.dashboard.customer_global.telp
  useWakeLock()
  return (
    <>
      <QrPanel />
      {(telp || !account.error) && (
        <>
          <p className={styles.caption}>{copy.topUp.yourNumber}</p>
          <p className={`digits ${styles.number}`} translate="no">
            {telp ? groupedTelp(telp) : '\u00a0'}
          </p>
        </>
      )}
      <p className={styles.note}>
        <RefreshCw size={16} aria-hidden />
        {copy.topUp.updated}
      </p>
    </>
  )
}
