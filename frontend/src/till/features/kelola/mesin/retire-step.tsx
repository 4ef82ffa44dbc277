import { Button } from '@/shared/ui/button'
import { Dialog } from '@/shared/ui/dialog'
import { changeMachine } from '@/till/api/shop-calls'
import type { Tile } from '@/till/api/types'
import { notify } from '@/till/lib/page/notices'
import styles from '../kelola.module.css'
import { SaveFoot } from '../save-foot'
import { useSave } from '../use-save'
import { mesin } from './mesin-copy'

interface Props {
  machine: Tile
  onBack: () => void
  onDone: () => void
}

/** Says what ends with a machine before it is retired. */
export function RetireStep({ machine: { id, nama }, onBack, onDone }: Props) {
  const saving = useSave<null>({
    onDone() {
      notify.info(mesin.retired(nama))
      onDone()
    },
  })
  const request = () => changeMachine(id, { aktif: false })
  return (
    <Dialog open onClose={onBack} title={mesin.retire} locked={saving.pending}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          saving.save(request)
        }}
      >
        <p>{mesin.retireWhat(nama)}</p>
        <SaveFoot saving={saving} label={mesin.retire} danger onAgain={() => saving.again(request)}>
          <Button variant="quiet" disabled={saving.pending} onClick={onBack}>
            {mesin.back}
          </Button>
        </SaveFoot>
      </form>
    </Dialog>
  )
}
