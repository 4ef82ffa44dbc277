import { AnimatePresence } from 'framer-motion'
import * as m from 'framer-motion/m'
import { useNavigate } from 'react-router'
import { added } from '@/shared/copy/added'
import { paths } from '@/shared/lib/paths'
import { Button } from '@/shared/ui/button'
import { Dialog } from '@/shared/ui/dialog'
import { Motion } from '@/shared/ui/motion'
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
      <Motion>
        <div className={styles.wait}>
          <Porthole state="waiting" />
          <AnimatePresence mode="wait" initial={false}>
            <m.p
              key={phase}
              role="status"
              initial={{ opacity: 0, y: 6 }}
              animate={{ opacity: 1, y: 0 }}
              exit={{ opacity: 0, y: -6 }}
              transition={{ duration: 0.2 }}
            >
              {body}
            </m.p>
          </AnimatePresence>
        </div>
      </Motion>
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
