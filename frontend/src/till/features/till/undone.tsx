import { rupiah } from '@/shared/lib/format'
import { reasonOf } from '@/till/lib/explain'
import { useTopUpState } from '@/till/lib/top-ups'
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
