import { Keyboard, ScanBarcode, ScanLine } from 'lucide-react'
import { useState } from 'react'
import { groupedTelp } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import type { CustomerRef } from '@/till/api/types'
import { reasonOf } from '@/till/lib/page/explain'
import { whenSilent } from '@/till/lib/page/keyboard'
import { ExtraKey, Keypad } from '@/till/ui/keypad'
import { Camera } from './camera'
import styles from './find.module.css'
import { Newest } from './newest'

/** Minimum digits of a national number, with its zero. */
const SHORTEST = 9
const LONGEST = 15

interface Props {
  /** The number typed so far. */
  telp: string
  onTelp: (telp: string) => void
  pending: boolean
  error: unknown
  onFind: (ref: CustomerRef) => void
}

/** Finds the customer: by the camera, by a USB scanner on any screen, or by their number. */
export function Find({ telp, onTelp, pending, error, onFind }: Props) {
  const [way, setWay] = useState<'camera' | 'number'>(telp ? 'number' : 'camera')
  const enough = telp.length >= SHORTEST

  function search() {
    if (enough && !pending) onFind({ telp })
  }

  return (
    <div className={styles.find}>
      {error !== null && (
        <p role="alert" className={styles.fault}>
          {reasonOf(error)}
        </p>
      )}
      <fieldset className={styles.ways} aria-label="Cara mencari pelanggan">
        <button type="button" aria-pressed={way === 'camera'} onClick={() => setWay('camera')}>
          <ScanLine size={20} aria-hidden /> Kamera
        </button>
        <button type="button" aria-pressed={way === 'number'} onClick={() => setWay('number')}>
          <Keyboard size={20} aria-hidden /> Ketik nomor
        </button>
      </fieldset>
      <section className={styles.camera} data-way={way} aria-label="Pindai kode pelanggan">
        <Camera checking={pending} />
      </section>
      <section className={styles.number} data-way={way} aria-labelledby="nomor">
        <h2 id="nomor" className={styles.heading}>
          Nomor pelanggan
        </h2>
        <output
          className={`digits ${styles.telp}`}
          aria-label="Nomor yang diketik"
          translate={telp ? 'no' : 'yes'}
        >
          {telp ? grouped(telp) : <span className={styles.placeholder}>Ketik nomor WhatsApp</span>}
        </output>
        <Keypad
          label="Nomor pelanggan"
          className={styles.keypad}
          disabled={pending}
          onDigits={(digit) => {
            setWay('number')
            onTelp((telp + digit).slice(0, LONGEST))
          }}
          onBack={() => onTelp(telp.slice(0, -1))}
          onEnter={() => whenSilent(search)}
          remember={() => () => {
            setWay(way)
            onTelp(telp)
          }}
          extra={telp && <ExtraKey onClick={() => onTelp('')}>Hapus</ExtraKey>}
        />
        <Button disabled={!enough} pending={pending} onClick={search}>
          Cari
        </Button>
      </section>
      <div className={styles.newest} data-way={way}>
        <Newest />
      </div>
      <p className={styles.hint}>
        <ScanBarcode size={18} aria-hidden />
        Alat pindai siap. Pelanggan boleh dipindai kapan saja.
      </p>
    </div>
  )
}

/** A number with a country code stays as typed. */
const grouped = (telp: string) =>
  telp.startsWith('0') ? groupedTelp(telp) : telp.replace(/(.{4})(?=.)/g, '$1 ')
