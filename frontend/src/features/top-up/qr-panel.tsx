import { explain } from '@/shared/api/error'
import { added } from '@/shared/copy/added'
import { Button } from '@/shared/ui/button'
import { Spinner } from '@/shared/ui/spinner'
import styles from './top-up-page.module.css'
import { useQrcode } from './use-qrcode'

/** The code on white whatever the theme: a cashier's reader wants dark on light. */
export function QrPanel() {
  const { data, expired, error, isFetching, refetch } = useQrcode()
  const shown = data !== undefined && !expired
  return (
    <>
      <div className={styles.panel} aria-busy={!shown && isFetching}>
        {shown ? (
          <img className={styles.qr} src={`data:image/png;base64,${data}`} alt={added.topUp.alt} />
        ) : isFetching || !error ? (
          <p role="status" className={styles.waiting}>
            <Spinner large />
            <span className="visually-hidden">{added.topUp.loading}</span>
          </p>
        ) : (
          <Failed error={error} expired={expired} onRetry={() => void refetch()} />
        )}
      </div>
      <p className={styles.note}>{added.topUp.updated}</p>
    </>
  )
}

function Failed({ error, expired, onRetry }: { error: Error; expired: boolean; onRetry: () => void }) {
  const { title, body } = explain(error)
  return (
    <div role="alert" className={styles.failed}>
      <p className={styles.failedTitle}>{expired ? added.topUp.expired : added.topUp.loadFailed}</p>
      <p>{body ?? title}</p>
      <Button className={styles.retry} onClick={onRetry}>
        {added.common.tryAgain}
      </Button>
    </div>
  )
}
