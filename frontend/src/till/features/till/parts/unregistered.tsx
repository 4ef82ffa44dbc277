import { ScanLine } from 'lucide-react'
import { useEffect, useEffectEvent, useRef } from 'react'
import { Button } from '@/shared/ui/button'
import { useDigitKeys } from '@/till/lib/page/keyboard'
import { Qr } from '@/till/ui/qr'
import styles from './parts.module.css'

interface Props {
  telp: string
  onNext: () => void
  /** Called when the cashier types on: the next number starts. */
  onTelp: (telp: string) => void
}

/** No customer has that number: they register on their own phone, by the address's QR code. */
export function Unregistered({ telp, onNext, onTelp }: Props) {
  const address = `${window.location.origin}/register`
  const here = useRef<HTMLElement>(null)
  useDigitKeys(here, {
    onDigits: onTelp,
    onBack: onNext,
    remember: () => () => onTelp(''),
  })
  const leave = useEffectEvent((event: KeyboardEvent) => {
    if (event.key === 'Escape' && !document.querySelector('dialog[open]')) onNext()
  })
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => leave(event)
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  return (
    <section ref={here} className={styles.page} aria-labelledby="belum-terdaftar">
      <Qr text={address} label={`Kode QR ${address}`} className={styles.qr} />
      <div className={styles.words}>
        <div role="alert">
          <h2 id="belum-terdaftar" className={styles.title}>
            Nomor <span className="digits">{telp}</span> belum terdaftar
          </h2>
        </div>
        <p className={styles.lead}>
          Minta pelanggan memindai kode ini dengan kamera ponselnya untuk mendaftar. Sesudah itu, pindai kode
          di menu Top Up miliknya.
        </p>
        <p className={styles.address}>{address}</p>
        <Button icon={<ScanLine size={20} aria-hidden />} onClick={onNext}>
          Kembali memindai
        </Button>
      </div>
    </section>
  )
}
