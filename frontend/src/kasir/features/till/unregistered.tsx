import { ScanLine } from 'lucide-react'
import { Qr } from '@/kasir/ui/qr'
import { Button } from '@/shared/ui/button'
import styles from './unregistered.module.css'

/** Nobody is known by that number: they register on their own phone, by the code of the address. */
export function Unregistered({ telp, onNext }: { telp: string; onNext: () => void }) {
  const address = `${window.location.origin}/register`
  return (
    <section className={styles.page} aria-labelledby="belum-terdaftar">
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
