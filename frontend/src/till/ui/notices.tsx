import { X } from 'lucide-react'
import { useEffect, useState } from 'react'
import { createPortal } from 'react-dom'
import { keepOnTop } from '@/shared/lib/toast/toast-layer'
import { IconButton } from '@/shared/ui/icon-button'
import { notify, useNotice } from '@/till/lib/page/notices'
import styles from './notices.module.css'

/** Display time, long enough to read while the hands are busy. */
const SHOWN_MS = 6_000

/** The newest notice, over all content, including an open dialog. */
export function Notices() {
  const notice = useNotice((state) => state.notice)
  const [place] = useState(() => {
    const node = document.createElement('div')
    node.className = styles.place ?? ''
    node.setAttribute('role', 'status')
    return node
  })
  useEffect(() => keepOnTop(place), [place])
  useEffect(() => {
    if (!notice) return
    const timer = setTimeout(notify.clear, SHOWN_MS)
    return () => clearTimeout(timer)
  }, [notice])
  return createPortal(
    notice && (
      <div key={notice.id} className={styles.notice} data-kind={notice.kind}>
        <p>{notice.text}</p>
        <IconButton label="Tutup" onClick={notify.clear}>
          <X size={20} aria-hidden />
        </IconButton>
      </div>
    ),
    place,
  )
}
