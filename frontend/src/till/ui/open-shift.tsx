import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { rupiah } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import { openingOf } from '@/till/api/calls'
import { keys } from '@/till/api/keys'
import type { Shift } from '@/till/api/types'
import { MAX_IN_DRAWER } from '@/till/lib/money/cash-count'
import { useMoney } from '@/till/lib/money/use-money'
import { whenSilent } from '@/till/lib/page/keyboard'
import { useConnected } from '@/till/lib/session/use-connected'
import { sendShiftChange } from '@/till/lib/shift/shift-change'
import { AmountPad } from '@/till/ui/amount-pad'
import { Unanswered } from '@/till/ui/unanswered'
import styles from './open-shift.module.css'

/** Opens a shift with the cash in the drawer: without a shift the till sells nothing. */
export function OpenShift() {
  const client = useQueryClient()
  const connected = useConnected()
  const [float, setFloat] = useState(0)
  const look = () => {
    for (const queryKey of [keys.shift, keys.device]) void client.invalidateQueries({ queryKey })
  }
  // On a refusal, another tab may have opened the shift first.
  const money = useMoney<Shift>('shift:open', {
    onDone: () => {
      sendShiftChange(null)
      look()
    },
    onRefused: look,
  })
  const open = () => money.send(`Buka shift dengan modal ${rupiah(float)}.`, openingOf(float))
  return (
    <section className={styles.page} aria-labelledby="buka-shift">
      <div className={styles.words}>
        <h2 id="buka-shift" className={styles.title}>
          Buka shift
        </h2>
        <p className={styles.lead}>Ketik uang yang ada di laci, boleh 0.</p>
        {money.fault && !money.unanswered && (
          <p role="alert" className={styles.fault}>
            {money.fault}
          </p>
        )}
        {!connected && <p className={styles.fault}>Tidak ada sambungan. Shift belum bisa dibuka.</p>}
      </div>
      <div className={styles.pad}>
        {money.unanswered ? (
          <Unanswered money={money} />
        ) : (
          <>
            <AmountPad
              label="Modal di laci"
              value={float}
              max={MAX_IN_DRAWER}
              onChange={setFloat}
              onEnter={() => connected && whenSilent(open)}
            />
            <Button pending={money.pending} disabled={!connected && !money.pending} onClick={open}>
              {`Buka shift, modal ${rupiah(float)}`}
            </Button>
          </>
        )}
      </div>
    </section>
  )
}
