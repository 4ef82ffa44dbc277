import { Button } from '@/shared/ui/button'
import { Dialog } from '@/shared/ui/dialog'
import styles from './kelola.module.css'
import { kelola } from './kelola-copy'
import { SaveFoot } from './save-foot'
import { useSave } from './use-save'

interface Props {
  /** The title, and the button. */
  label: string
  /** What ends. */
  body: string
  /** May be sent again without another effect. */
  send: () => Promise<null>
  onBack: () => void
  onDone: () => void
}

/** Says what ends before it is ended: it cannot be taken back. */
export function ConfirmDialog({ label, body, send, onBack, onDone }: Props) {
  const saving = useSave<null>({ onDone })
  return (
    <Dialog open onClose={onBack} title={label} locked={saving.pending}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          saving.save(send)
        }}
      >
        <p>{body}</p>
        <SaveFoot saving={saving} label={label} danger onAgain={() => saving.again(send)}>
          <Button variant="quiet" disabled={saving.pending} onClick={onBack}>
            {kelola.back}
          </Button>
        </SaveFoot>
      </form>
    </Dialog>
  )
}
