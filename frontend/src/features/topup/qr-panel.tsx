import { copy } from '@/shared/copy/copy'
import { Button } from '@/shared/ui/button'
import { FailedPart } from '@/shared/ui/failed-part'
import { Spinner } from '@/shared/ui/spinner'
import styles from './top-up-page.module.css'
import { useQrcode } from './use-qrcode'

/** The code on white in every theme: a cashier's reader needs dark on light. */
export function QrPanel() {
  const code = useQrcode()
  return (
    <div className={styles.panel} aria-busy={code.kind === 'loading'}>
      {code.kind === 'shown' ? (
        <img className={styles.qr} src={`data:image/png;base64,${code.png}`} alt={copy.topUp.alt} />
      ) : code.kind === 'loading' ? (
        <p role="status" className={styles.waiting}>
          <Spinner large />
          <span className="visually-hidden">{copy.topUp.loading}</span>
        </p>
      ) : (
        <FailedPart
          className={styles.failed}
          title={code.kind === 'expired' ? copy.topUp.expired : copy.topUp.loadFailed}
          error={code.failure.error}
        >
          <Button className={styles.retry} onClick={code.failure.onRetry}>
            {copy.common.tryAgain}
          </Button>
        </FailedPart>
      )}
    </div>
  )
}
