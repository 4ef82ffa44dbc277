import { rupiah } from '@/shared/lib/text/format'
import { useTopUpState } from '@/till/lib/money/top-ups'
import { reasonOf } from '@/till/lib/page/explain'
import styles from './undone.module.css'

/** A top-up that was refused after its customer left the screen: after a reload, or with the shift closed. */
export function Undone() {
  const topUp = useTopUpState()
  if (topUp.is !== 'refused') return null
  const { open, error } = topUp
  return (
    <p role="alert" className={styles.undone}>
      {`Top-up ${rupiah(open.body.nominal)} untuk ${open.nama} tidak terjadi: ${reasonOf(error)}`}
    </p>
  )
}
