import { useSend } from '@/shared/api/use-send'
import { copy } from '@/shared/copy/copy'
import { useForm } from '@/shared/lib/form/use-form'
import type { Sending } from '@/shared/lib/form/use-submit'
import { type Faults, missing } from '@/shared/lib/form/validate'
import { Button } from '@/shared/ui/button'
import { CodeEntry, useCodeEntry } from '@/shared/ui/code-entry'
import { Dialog, Foot } from '@/shared/ui/dialog'
import styles from '@/shared/ui/form.module.css'
import { PasswordField } from '@/shared/ui/password-field'
import { TelpField } from '@/shared/ui/telp-field'
import { UsernameInput } from '@/shared/ui/username-input'
import { requestMoveCodes } from './calls'
import { dataCopy } from './data-copy'
import type { MoveDraft } from './move-draft'
import type { Move } from './use-move'

export function MoveDialogs({ move }: { move: Move }) {
  switch (move.step) {
    case 'closed':
      return null
    case 'form':
      return <FormDialog move={move} />
    case 'oldCode':
      return (
        <CodeDialog
          key="old"
          move={move}
          title={dataCopy.oldCode}
          telp={move.own}
          submitLabel={dataCopy.next}
          sending={{ pending: false, submit: move.takeOldCode }}
        />
      )
    case 'newCode':
      return (
        <CodeDialog
          key="new"
          move={move}
          title={dataCopy.newCode}
          telp={move.draft.telp}
          submitLabel={dataCopy.moveNow}
          sending={move.moving}
        />
      )
  }
}

function FormDialog({ move }: { move: Move }) {
  const { own, draft, setDraft, asking, close } = move
  const { form, field } = useForm(
    () => faultsOf(draft, own),
    () => asking.submit(draft),
  )
  return (
    <Dialog
      open
      onClose={close}
      title={dataCopy.move}
      locked={asking.pending}
      typed={draft.telp !== '' || draft.password !== ''}
    >
      <form {...form} className={styles.form}>
        <p className={styles.lead}>{dataCopy.moveBody}</p>
        <UsernameInput telp={own} />
        <div className={styles.fields}>
          <TelpField
            {...field('telp')}
            label={dataCopy.newNumber}
            autoComplete="off"
            value={draft.telp}
            disabled={asking.pending}
            onChange={(telp) => setDraft({ ...draft, telp })}
          />
          <PasswordField
            {...field('password')}
            label={dataCopy.thisPassword}
            autoComplete="current-password"
            value={draft.password}
            disabled={asking.pending}
            onChange={(event) => setDraft({ ...draft, password: event.target.value })}
          />
        </div>
        <Foot>
          <Button type="submit" pending={asking.pending}>
            {dataCopy.sendCodes}
          </Button>
        </Foot>
      </form>
    </Dialog>
  )
}

function faultsOf({ telp, password }: MoveDraft, own: string): Faults<'telp' | 'password'> {
  return {
    ...missing({ telp, password }, copy.form.dataMissing),
    ...(telp === own && { telp: dataCopy.sameNumber }),
  }
}

interface CodeProps {
  move: Move
  title: string
  telp: string
  submitLabel: string
  sending: Sending<[code: string]>
}

function CodeDialog({ move, title, telp, submitLabel, sending }: CodeProps) {
  const entry = useCodeEntry('move', telp)
  const resending = useSend({
    send: () => requestMoveCodes(move.draft.telp),
    onDone() {
      move.codesSent()
      entry.resent()
    },
  })
  return (
    <Dialog open onClose={move.toForm} title={title} locked={sending.pending}>
      <CodeEntry
        entry={entry}
        submitLabel={submitLabel}
        autoSubmit
        sending={sending}
        resending={resending}
        footer={(submit) => <Foot>{submit}</Foot>}
      />
    </Dialog>
  )
}
