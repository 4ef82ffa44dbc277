import { TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import type { Complaint, HistoryEntry, SnapHistoryDetail } from '@/shared/api/model'
import { isWaiting } from '@/shared/lib/session/purchases'
import { formatDateTime, rupiah } from '@/shared/lib/text/format'
import { serverNow } from '@/shared/realtime/clock'
import { Button } from '@/shared/ui/button'
import { reasonText, stateText, complaint as texts } from './complaint-copy'
import { ComplaintDialog } from './complaint-dialog'
import styles from './riwayat-page.module.css'

/** A problem can be reported this long after the end. */
const REPORT_MS = 24 * 60 * 60_000

/** Under a purchase: what the customer reported and the answer, or the way to report something. */
export function ComplaintPart({ entry, use }: { entry: HistoryEntry; use: SnapHistoryDetail }) {
  const [open, setOpen] = useState(false)
  if (use.keluhan) return <Report {...use.keluhan} />
  if (!canReport(use)) return null
  return (
    <>
      <Button
        variant="quiet"
        icon={<TriangleAlert size={20} aria-hidden />}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        {texts.title}
      </Button>
      {open && <ComplaintDialog entry={entry} onClose={() => setOpen(false)} />}
    </>
  )
}

/** While the machine runs, and a day after it. The server decides about everything else. */
function canReport(use: SnapHistoryDetail): boolean {
  if (use.isDelete || isWaiting(use)) return false
  return !use.finished_at || serverNow() - Date.parse(use.finished_at) < REPORT_MS
}

function Report({ status, alasan, catatan, nominal, jawaban, dijawab_at }: Complaint) {
  const rows = [
    [texts.yourNote, catatan],
    [texts.answer, jawaban],
    [texts.answeredAt, dijawab_at && formatDateTime(dijawab_at)],
  ].filter((row): row is [string, string] => Boolean(row[1]))
  return (
    <section className={styles.report} data-status={status} aria-label={texts.report}>
      <p className={styles.reportTitle}>
        <span>{reasonText(alasan)}</span>
        <strong className={styles.reportState}>{stateText(status)}</strong>
      </p>
      {status === 'diterima' && nominal !== null && <p>{texts.refunded(rupiah(nominal))}</p>}
      {rows.length > 0 && (
        <dl>
          {rows.map(([label, value]) => (
            <div key={label} className={styles.row}>
              <dt>{label}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  )
}
