import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '@/shared/api/client'
import type { Nothing, PendingMove } from '@/shared/api/model'
import { pendingMoveQuery } from '@/shared/api/pending-move'
import { useSend } from '@/shared/api/use-send'
import { formatDateTime } from '@/shared/lib/text/format'
import { toast } from '@/shared/lib/toast/toast'
import { Button } from '@/shared/ui/button'
import { Dialog, Foot } from '@/shared/ui/dialog'
import styles from '@/shared/ui/warning.module.css'
import { pendingMove as texts } from './pending-move-copy'

function refuseMove(idpindah: PendingMove['idpindah']): Promise<Nothing> {
  return call((init) => api.POST('/scan/v1/akun/pindah/tolak', { ...init, body: { idpindah } }))
}

/** Warns that somebody at a till wants to take this account to another number, which only this number can refuse. */
export default function PendingMoveCard() {
  const client = useQueryClient()
  const { queryKey } = pendingMoveQuery()
  const { data: move } = useQuery({ ...pendingMoveQuery(), refetchOnMount: 'always' })
  const [asking, setAsking] = useState(false)
  const { pending, submit } = useSend({
    send: refuseMove,
    onDone() {
      client.setQueryData(queryKey, null)
      toast.success(texts.refused, texts.refusedBody)
    },
    // It may be over by now.
    onFailed: () => void client.invalidateQueries({ queryKey }),
  })
  if (!move) return null
  return (
    <section className={styles.warning} aria-label={texts.title}>
      <div role="status">
        <p className={styles.title}>{texts.title}</p>
        <p>{texts.body(move.ke, formatDateTime(move.terjadi_at))}</p>
      </div>
      <Button variant="secondary" aria-haspopup="dialog" onClick={() => setAsking(true)}>
        {texts.refuse}
      </Button>
      <Dialog open={asking} onClose={() => setAsking(false)} title={texts.sure} locked={pending}>
        <p>{texts.sureBody}</p>
        <Foot>
          <Button variant="danger" pending={pending} onClick={() => submit(move.idpindah)}>
            {texts.refuseNow}
          </Button>
          <Button variant="secondary" onClick={() => setAsking(false)}>
            {texts.back}
          </Button>
        </Foot>
      </Dialog>
    </section>
  )
}
