import { clockTime, rupiah } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import { Spinner } from '@/shared/ui/spinner'
import type { TopUpState } from '@/till/lib/money/top-up-machine'
import { topUps } from '@/till/lib/money/top-ups'
import styles from './asking.module.css'

type Undecided = Extract<TopUpState, { is: 'asking' | 'waiting' | 'unknown' }>

/** Shown while it is unknown whether the money moved. Nothing else is sold until that is decided. */
export function Asking({ state }: { state: Undecided }) {
  const { nama, body, at } = state.open
  const unknown = state.is === 'unknown'
  return (
    <section className={styles.asking} aria-labelledby="menunggu">
      {!unknown && <Spinner large />}
      <div role="status">
        <h2 id="menunggu" className={styles.title}>
          {unknown ? 'Top-up belum terjawab' : 'Menunggu jawaban server…'}
        </h2>
      </div>
      <p>{`${rupiah(body.nominal)} untuk ${nama}, dikirim pukul ${clockTime(at)}.`}</p>
      <p className={styles.lead}>
        {`Jangan isi ulang: kasir menanyakan top-up yang sama, jadi saldo tidak masuk dua kali.${
          unknown ? ' Begitu tersambung, kasir menanyakannya lagi.' : ''
        }`}
      </p>
      <Button pending={state.is === 'asking'} onClick={() => topUps.again()}>
        Tanyakan sekarang
      </Button>
    </section>
  )
}
