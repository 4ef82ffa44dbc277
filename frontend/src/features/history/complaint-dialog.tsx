import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { asApiError } from '@/shared/api/error'
import type { HistoryEntry } from '@/shared/api/model'
import { useSend } from '@/shared/api/use-send'
import { toast } from '@/shared/lib/toast/toast'
import { Button } from '@/shared/ui/button'
import { Chips } from '@/shared/ui/chips'
import { Dialog, Foot } from '@/shared/ui/dialog'
import styles from '@/shared/ui/form.module.css'
import { TextArea } from '@/shared/ui/text-area'
import { detailQuery, reportProblem } from './calls'
import { type ComplaintReason, complaint as texts } from './complaint-copy'

/** Maximum length of a note that the server accepts. */
const NOTE_MAX = 200

const REASONS = Object.entries(texts.reasons).map(([value, text]) => ({
  value: value as ComplaintReason,
  text,
}))

/** Reports what went wrong with a purchase: one of four reasons, and a note. */
export function ComplaintDialog({ entry, onClose }: { entry: HistoryEntry; onClose: () => void }) {
  const [reason, setReason] = useState<ComplaintReason | null>(null)
  const [note, setNote] = useState('')
  const client = useQueryClient()
  const refresh = () => void client.invalidateQueries({ queryKey: detailQuery(entry).queryKey })
  const { pending, submit } = useSend({
    send: (alasan: ComplaintReason) => reportProblem(entry.ref_id, alasan, oneLine(note)),
    onDone() {
      toast.success(texts.sent, texts.sentBody)
      refresh()
      onClose()
    },
    onFailed(error) {
      // An earlier attempt may have arrived although its answer was lost.
      if (asApiError(error).status === 409) {
        refresh()
        onClose()
      }
    },
  })

  function onSubmit(event: FormEvent) {
    event.preventDefault()
    if (reason) submit(reason)
  }

  return (
    <Dialog open onClose={onClose} title={texts.title} locked={pending} typed={note !== ''}>
      <form className={styles.form} onSubmit={onSubmit} noValidate>
        <Chips
          label={texts.reason}
          options={REASONS}
          paired
          chosen={reason ? [reason] : []}
          disabled={pending}
          onChoose={setReason}
        />
        <TextArea
          label={texts.note}
          hint={texts.noteLeft(NOTE_MAX - note.length)}
          value={note}
          maxLength={NOTE_MAX}
          disabled={pending}
          onChange={(event) => setNote(event.target.value)}
        />
        <Foot>
          <Button type="submit" disabled={!reason} pending={pending}>
            {texts.send}
          </Button>
        </Foot>
      </form>
    </Dialog>
  )
}

/** The server takes no line breaks. */
const oneLine = (text: string) => text.trim().replace(/\s+/g, ' ')
