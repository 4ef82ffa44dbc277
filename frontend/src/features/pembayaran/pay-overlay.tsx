import { useNavigate } from 'react-router'
import { added } from '@/shared/copy/added'
import { paths } from '@/shared/lib/paths'
import { Button } from '@/shared/ui/button'
import { Dialog } from '@/shared/ui/dialog'
import { FadeSwap } from '@/shared/ui/fade-swap'
import { Porthole } from '@/shared/ui/porthole'
import styles from './pembayaran-page.module.css'
import type { PayPhase } from './use-pay'

const words: Record<Exclude<PayPhase, 'ready'>, [string, string]> = {
  sending: [added.bayar.menyalakan, added.bayar.menyalakanIsi],
  asking: [added.bayar.memastikan, added.bayar.memastikanIsi],
  unknown: [added.bayar.belumPasti, added.bayar.belumPastiIsi],
}

/** While the machine is being started: what is awaited, and the truth when nothing can be known yet. */
export function PayOverlay({ phase, onRetry }: { phase: PayPhase; onRetry: () => void }) {
  const navigate = useNavigate()
  const [title, body] = phase === 'ready' ? ['', ''] : words[phase]
  return (
    <Dialog open={phase !== 'ready'} onClose={() => undefined} title={title} locked>
      <div className={styles.wait}>
        {phase !== 'unknown' && <Porthole state="waiting" />}
        <div role="status">
          <FadeSwap id={phase}>{body}</FadeSwap>
        </div>
      </div>
      {phase === 'unknown' && (
        <>
          <Button onClick={onRetry}>{added.umum.cobaLagi}</Button>
          <Button variant="secondary" onClick={() => navigate(paths.dashboard, { replace: true })}>
            {added.bayar.keBeranda}
          </Button>
        </>
      )}
    </Dialog>
  )
}
