import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { openShift } from '@/kasir/api/calls'
import { keys } from '@/kasir/api/keys'
import { newCallKey } from '@/kasir/lib/call-key'
import { reasonOf } from '@/kasir/lib/explain'
import { useConnected } from '@/kasir/lib/use-connected'
import { AmountPad } from '@/kasir/ui/amount-pad'
import { asApiError } from '@/shared/api/error'
import { useSubmit } from '@/shared/lib/use-submit'
import { Button } from '@/shared/ui/button'
import styles from './open-shift.module.css'

/** Without a shift nothing is sold: it is opened here, with the cash that lies in the drawer. */
export function OpenShift() {
  const client = useQueryClient()
  const connected = useConnected()
  const [float, setFloat] = useState(0)
  const [fault, setFault] = useState('')
  // The same try again hears the answer of the first; another amount is another try.
  const sent = useRef<{ key: string; float: number } | null>(null)

  const { pending, submit } = useSubmit(async () => {
    setFault('')
    if (sent.current?.float !== float) sent.current = { key: newCallKey(), float }
    try {
      await openShift(sent.current.key, float)
    } catch (error) {
      const { unanswered, status } = asApiError(error)
      if (!unanswered && status < 500) sent.current = null
      setFault(reasonOf(error))
      // Another tab was quicker.
      if (status !== 409) return
    }
    await Promise.all([keys.shift, keys.device].map((queryKey) => client.invalidateQueries({ queryKey })))
  })

  return (
    <section className={styles.page} aria-labelledby="buka-shift">
      <div className={styles.words}>
        <h2 id="buka-shift" className={styles.title}>
          Buka shift
        </h2>
        <p className={styles.lead}>
          Hitung uang kembalian di laci, lalu ketik jumlahnya. Laci kosong boleh 0.
        </p>
        {fault && (
          <p role="alert" className={styles.fault}>
            {fault}
          </p>
        )}
        {!connected && <p className={styles.fault}>Tidak ada sambungan. Shift belum bisa dibuka.</p>}
      </div>
      <div className={styles.pad}>
        <AmountPad label="Modal di laci" value={float} onChange={setFloat} onEnter={submit} />
        <Button pending={pending} disabled={!connected} onClick={() => submit()}>
          Buka shift
        </Button>
      </div>
    </section>
  )
}
