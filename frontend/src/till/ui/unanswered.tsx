import { clockTime } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import type { Money } from '@/till/lib/money/use-money'
import styles from './unanswered.module.css'

/** Shown in place of an action, while it is unknown whether it was already done. */
export function Unanswered<T>({ money }: { money: Money<T> }) {
  const { unanswered, again } = money
  if (!unanswered) return null
  return (
    <div className={styles.unanswered}>
      <p role="alert">
        <strong>{`Belum terjawab: ${unanswered.what}`}</strong>{' '}
        <span>
          {`Dikirim pukul ${clockTime(unanswered.at)}. Kasir menanyakan yang sama, jadi tidak terjadi dua kali.`}
        </span>
      </p>
      <Button variant="secondary" onClick={again}>
        Tanyakan sekarang
      </Button>
    </div>
  )
}
