import { copy } from '@/shared/copy/copy'
import { useHome } from '@/shared/lib/page/trail'
import { Button } from '@/shared/ui/button'
import { Dialog } from '@/shared/ui/dialog'
import { Porthole } from '@/shared/ui/porthole'
import { FadeSwap } from './fade-swap'
import styles from './pembayaran-page.module.css'
import type { PayPhase } from './use-pay'

const texts: Record<Exclude<PayPhase, 'ready'>, [string, string]> = {
  sending: [copy.pay.starting, copy.pay.startingBody],
  asking: [copy.pay.confirming, copy.pay.confirmingBody],
  unknown: [copy.pay.undecided, copy.pay.undecidedBody],
}

interface Props {
  phase: PayPhase
  onRetry: () => void
  onLeave: () => void
}

/** Shown while the machine is being started: what the customer waits for, or that the outcome is unknown for now. */
export function PayOverlay({ phase, onRetry, onLeave }: Props) {
  const home = useHome()
  const leave = () => {
    onLeave()
    home()
  }
  const [title, body] = phase === 'ready' ? ['', ''] : texts[phase]
  return (
    <Dialog open={phase !== 'ready'} onClose={() => undefined} title={title} locked>
      <div className={styles.wait}>
        {phase !== 'unknown' && <Porthole state="waiting" />}
        <div role="status">
          <FadeSwap id={phase}>{body}</FadeSwap>
        </div>
      </div>
      {phase === 'unknown' && <Button onClick={onRetry}>{copy.common.tryAgain}</Button>}
      {phase !== 'sending' && (
        <Button variant="secondary" onClick={leave}>
          {copy.pay.toDashboard}
        </Button>
      )}
    </Dialog>
  )
}
