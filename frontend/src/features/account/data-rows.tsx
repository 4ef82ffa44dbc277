import { ChevronRight, Download, ShieldCheck, UserX } from 'lucide-react'
import { Link } from 'react-router'
import { useSend } from '@/shared/api/use-send'
import { paths } from '@/shared/lib/page/paths'
import { saveFile } from '@/shared/lib/page/save-file'
import { toast } from '@/shared/lib/toast/toast'
import choices from '@/shared/ui/choice.module.css'
import { Spinner } from '@/shared/ui/spinner'
import styles from './akun-page.module.css'
import { getData } from './calls'
import { dataCopy } from './data-copy'
import { Row } from './row'

/** What a customer may do with their own data. */
export function DataRows({ disabled, onDelete }: { disabled: boolean; onDelete: () => void }) {
  const { pending, submit } = useSend({
    send: getData,
    onDone(file) {
      saveFile(dataCopy.file, file)
      toast.success(dataCopy.downloaded)
    },
  })
  return (
    <section aria-label={dataCopy.mine} className={`${choices.surface} ${styles.rows}`}>
      <button
        type="button"
        className={choices.choice}
        aria-busy={pending || undefined}
        onClick={() => submit()}
      >
        <span className={choices.tile}>{pending ? <Spinner /> : <Download size={20} aria-hidden />}</span>
        <span className={choices.text}>
          <span className={choices.name}>{dataCopy.download}</span>
          <span className={choices.second}>{dataCopy.downloadBody}</span>
        </span>
      </button>
      <Link to={paths.privacy} className={`${choices.choice} ${styles.link}`}>
        <span className={choices.tile}>
          <ShieldCheck size={20} aria-hidden />
        </span>
        <span className={choices.text}>
          <span className={choices.name}>{dataCopy.privacy}</span>
          <span className={choices.second}>{dataCopy.privacyBody}</span>
        </span>
        <ChevronRight className={choices.chevron} size={20} aria-hidden />
      </Link>
      <Row
        icon={<UserX size={20} aria-hidden />}
        label={dataCopy.remove}
        disabled={disabled}
        onClick={onDelete}
      >
        <span>{dataCopy.removeRow}</span>
      </Row>
    </section>
  )
}
