import { Button } from '@/shared/ui/button'
import { Foot } from '@/shared/ui/dialog'
import type { Elements } from '@/shared/ui/elements'
import { useConnected } from '@/till/lib/session/use-connected'
import styles from './kelola.module.css'
import { kelola } from './kelola-copy'
import type { Saving } from './use-save'

interface Props<T> {
  saving: Saving<T>
  label: string
  disabled?: boolean
  danger?: boolean
  onAgain: () => void
  /** A second action. */
  children?: Elements
}

/** The end of a form: why it was not saved, and its button. */
export function SaveFoot<T>({ saving, label, disabled = false, danger, onAgain, children }: Props<T>) {
  const { pending, fault, open } = saving
  const connected = useConnected()
  return (
    <Foot>
      {fault && (
        <p role={pending ? 'status' : 'alert'} className={pending ? styles.quiet : styles.fault}>
          {fault}
        </p>
      )}
      {!connected && !fault && <p className={styles.fault}>{kelola.offline}</p>}
      {open ? (
        <Button pending={pending} onClick={onAgain}>
          {kelola.askAgain}
        </Button>
      ) : (
        <Button
          type="submit"
          variant={danger ? 'danger' : 'primary'}
          pending={pending}
          disabled={(disabled || !connected) && !pending}
        >
          {label}
        </Button>
      )}
      {children}
    </Foot>
  )
}
