import { Download } from 'lucide-react'
import { useState } from 'react'
import { useSubmit } from '@/shared/lib/form/use-submit'
import { saveFile } from '@/shared/lib/page/save-file'
import { Button } from '@/shared/ui/button'
import { Dialog } from '@/shared/ui/dialog'
import { csvName, getCsv, type Period, REPORTS, type Report } from '@/till/api/figure-calls'
import { reasonOf } from '@/till/lib/page/explain'
import { notify } from '@/till/lib/page/notices'
import { useConnected } from '@/till/lib/session/use-connected'
import { useMay } from '@/till/lib/session/use-me'
import { periodText } from './period'
import styles from './ringkasan.module.css'
import { ringkasan as copy } from './ringkasan-copy'

interface Props {
  idoutlet: number
  period: Period
  onClose: () => void
}

/** The reports of a period as files. */
export function ReportsDialog({ idoutlet, period, onClose }: Props) {
  const [fault, setFault] = useState('')
  const bills = useMay()(['laporan.qris']) === true
  return (
    <Dialog open onClose={onClose} title={copy.downloadTitle}>
      <p>{copy.downloadBody(periodText(period))}</p>
      {fault && (
        <p role="alert" className={styles.fault}>
          {fault}
        </p>
      )}
      <ul className={styles.reports}>
        {REPORTS.filter((report) => bills || report !== 'qris').map((report) => (
          <li key={report} className={styles.report}>
            <span className={styles.reportName}>
              <strong>{copy.reports[report][0]}</strong>
              <span className={styles.second}>{copy.reports[report][1]}</span>
            </span>
            <Get report={report} idoutlet={idoutlet} period={period} onFault={setFault} />
          </li>
        ))}
      </ul>
    </Dialog>
  )
}

interface GetProps extends Omit<Props, 'onClose'> {
  report: Report
  onFault: (fault: string) => void
}

/** A link would not carry the session, so the file is fetched first and saved from here. */
function Get({ report, idoutlet, period, onFault }: GetProps) {
  const connected = useConnected()
  const [name] = copy.reports[report]
  const { pending, submit } = useSubmit(
    async () => {
      onFault('')
      saveFile(csvName(report, idoutlet, period), await getCsv(report, idoutlet, period))
      notify.info(copy.downloaded(name))
    },
    (error) => onFault(reasonOf(error)),
  )
  return (
    <Button
      variant="secondary"
      className={styles.get}
      icon={<Download size={18} aria-hidden />}
      aria-label={copy.downloadOf(name)}
      pending={pending}
      disabled={!connected && !pending}
      onClick={() => submit()}
    >
      CSV
    </Button>
  )
}
