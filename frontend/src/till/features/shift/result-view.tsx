import { useEffect, useRef, useState } from 'react'
import { useSubmit } from '@/shared/lib/form/use-submit'
import { rupiah } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import { Field } from '@/shared/ui/field'
import { noteShift } from '@/till/api/calls'
import type { ShiftClosed } from '@/till/api/types'
import { reasonOf } from '@/till/lib/page/explain'
import { useConnected } from '@/till/lib/session/use-connected'
import { Rows } from '@/till/ui/rows'
import styles from './result-view.module.css'
import { soldRows } from './sold-rows'

/** The server's limit for a reason. */
const LONGEST = 500

/** The expected sum, the counted sum, and the difference. */
export function ResultView({ result, onDone }: { result: ShiftClosed; onDone: () => void }) {
  const { id, diharapkan, dihitung, selisih, laci_ditanya, koin, baru } = result
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus({ preventScroll: true }), [])
  return (
    <section className={styles.page} aria-labelledby="hasil">
      <div className={styles.card} role="status">
        <h2 id="hasil" ref={heading} tabIndex={-1} className={styles.title}>
          {baru ? 'Serah terima selesai' : 'Shift ditutup'}
        </h2>
        <Rows
          rows={[
            ['Seharusnya', rupiah(diharapkan)],
            ['Dihitung', rupiah(dihitung)],
            // Number of earlier answers that revealed something about the sum before the count.
            ['Laci ditanya', laci_ditanya > 0 ? `${laci_ditanya} kali` : null],
            ...soldRows(result.cara_bayar),
            // Not in the drawer.
            ['Koin di mesin', koin && `${koin.jumlah} koin, ${rupiah(koin.rupiah)}`],
            ['Isi saldo lama dibuka', result.topup_dilihat === 0 ? null : `${result.topup_dilihat} kali`],
          ]}
        />
        <p className={styles.difference} data-off={selisih !== 0 || undefined}>
          <span>Selisih</span>
          <strong className="digits">{differenceIn(selisih)}</strong>
        </p>
      </div>
      {baru ? (
        <p>{`Shift ${baru.petugas} terbuka dengan modal ${rupiah(dihitung)}.`}</p>
      ) : (
        <Note shift={id} />
      )}
      <Button variant={baru ? 'primary' : 'secondary'} onClick={onDone}>
        {baru ? 'Mulai' : 'Selesai'}
      </Button>
    </section>
  )
}

/** As text: a sign alone is easily overlooked. */
function differenceIn(selisih: number): string {
  if (selisih === 0) return 'Pas'
  return `${selisih < 0 ? 'Kurang' : 'Lebih'} ${rupiah(Math.abs(selisih))}`
}

/** A note about the difference, written once, by the member of staff who counted. */
function Note({ shift }: { shift: number }) {
  const connected = useConnected()
  const [text, setText] = useState('')
  const [fault, setFault] = useState('')
  const [kept, setKept] = useState(false)
  const { pending, submit } = useSubmit(async () => {
    setFault('')
    try {
      await noteShift(shift, text.trim())
      setKept(true)
    } catch (error) {
      setFault(reasonOf(error))
    }
  })
  if (kept) return <p role="status">Catatan disimpan.</p>
  return (
    <form
      className={styles.note}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (connected && text.trim()) submit()
      }}
    >
      <Field
        label="Catatan"
        hint={connected ? 'Boleh dikosongkan. Catatan disimpan sekali.' : 'Tidak ada sambungan.'}
        value={text}
        maxLength={LONGEST}
        autoComplete="off"
        onChange={(event) => {
          setFault('')
          setText(event.target.value)
        }}
        {...(fault ? { invalid: true, fault, faultId: 'catatan-fault' } : {})}
      />
      <Button type="submit" pending={pending} disabled={(!connected || !text.trim()) && !pending}>
        Simpan catatan
      </Button>
    </form>
  )
}
