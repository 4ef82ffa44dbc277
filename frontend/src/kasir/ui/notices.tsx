import { X } from 'lucide-react'
import { useEffect } from 'react'
import { tell, useNotice } from '@/kasir/lib/notices'
import { IconButton } from '@/shared/ui/icon-button'
import styles from './notices.module.css'

/** Long enough to be read while hands are busy. */
const SHOWN_MS = 6_000

/** The newest notice, over everything but dialogs, which say what is wrong themselves. */
export function Notices() {
  const notice = useNotice((state) => state.notice)
  useEffect(() => {
    if (!notice) return
    const timer = setTimeout(tell.clear, SHOWN_MS)
    return () => clearTimeout(timer)
  }, [notice])
  return (
    <div className={styles.place} role="status">
      {notice && (
        <div key={notice.id} className={styles.notice} data-kind={notice.kind}>
          <p>{notice.text}</p>
          <IconButton label="Tutup" onClick={tell.clear}>
            <X size={20} aria-hidden />
          </IconButton>
        </div>
      )}
    </div>
  )
}
