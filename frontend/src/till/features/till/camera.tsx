import { CameraOff, SwitchCamera, Video } from 'lucide-react'
import { useRef, useState } from 'react'
import { isRecord, slot } from '@/shared/lib/session/storage'
import { codePicker } from '@/shared/scan/pick-code'
import { type Facing, useCamera } from '@/shared/scan/use-camera'
import { useDecoder } from '@/shared/scan/use-decoder'
import { useScanner } from '@/shared/scan/use-scanner'
import { Viewfinder } from '@/shared/scan/viewfinder'
import { Button } from '@/shared/ui/button'
import { notify } from '@/till/lib/page/notices'
import { isCustomerCode, isMachineCode, NOT_OURS, useScans } from '@/till/lib/scan/scans'
import styles from './camera.module.css'

interface Wish {
  on: boolean
  facing: Facing
}

/** This device's settings: one tablet faces the customer, another is held by the cashier. */
const wishes = slot<Wish>(
  'local',
  'nyala.kasir.camera',
  (value): value is Wish =>
    isRecord(value) &&
    typeof value.on === 'boolean' &&
    (value.facing === 'user' || value.facing === 'environment'),
)

const TEXTS = {
  checking: 'Mencari pelanggan…',
  cameraRefusedBody: 'Izinkan kamera di setelan browser, atau ketik nomor pelanggan.',
  noCameraBody: 'Pakai alat pindai USB, atau ketik nomor pelanggan.',
  cameraBusyBody: 'Tutup aplikasi itu lalu coba lagi, atau ketik nomor pelanggan.',
  insecureBody: 'Buka kasir lewat alamat https, atau ketik nomor pelanggan.',
  scannerSlow: 'Koneksi lambat, pemindai masih dimuat. Nomor pelanggan juga bisa diketik.',
  scannerFailedBody: 'Periksa koneksi lalu coba lagi, atau ketik nomor pelanggan.',
}

/** The camera that looks for a customer's code, with its side and its switch. */
export function Camera({ checking }: { checking: boolean }) {
  const [wish, setWish] = useState<Wish>(() => wishes.read() ?? { on: true, facing: 'environment' })
  function choose(changed: Partial<Wish>) {
    const next = { ...wish, ...changed }
    wishes.write(next)
    setWish(next)
  }
  if (!wish.on) {
    return (
      <div className={styles.off}>
        <CameraOff size={36} aria-hidden />
        <p>Kamera mati. Alat pindai USB tetap bisa dipakai.</p>
        <Button
          variant="secondary"
          icon={<Video size={20} aria-hidden />}
          onClick={() => choose({ on: true })}
        >
          Nyalakan kamera
        </Button>
      </div>
    )
  }
  const other: Facing = wish.facing === 'user' ? 'environment' : 'user'
  return (
    <div className={styles.camera}>
      <Finder facing={wish.facing} checking={checking} />
      <div className={styles.choices}>
        <Button
          variant="secondary"
          icon={<SwitchCamera size={20} aria-hidden />}
          onClick={() => choose({ facing: other })}
        >
          {other === 'user' ? 'Kamera depan' : 'Kamera belakang'}
        </Button>
        <Button
          variant="secondary"
          icon={<CameraOff size={20} aria-hidden />}
          onClick={() => choose({ on: false })}
        >
          Matikan
        </Button>
      </div>
    </div>
  )
}

function Finder({ facing, checking }: { facing: Facing; checking: boolean }) {
  const video = useRef<HTMLVideoElement>(null)
  const camera = useCamera(video, facing)
  // With a customer's code and a sticker in view, the customer's code goes first: it starts a top-up.
  const [pick] = useState(() => codePicker([isCustomerCode, isMachineCode]))
  const decoder = useDecoder(camera.state === 'starting' || camera.state === 'live')
  useScanner({
    video,
    decode: camera.state === 'live' && !checking ? decoder.decode : null,
    onTexts: (texts) => {
      const picked = pick(texts)
      if (picked?.is === 'ours') useScans.getState().push(picked.text)
      else if (picked) notify.failure(NOT_OURS)
    },
    onBroken: decoder.giveUp,
  })
  return (
    <Viewfinder
      className={styles.finder}
      video={video}
      state={camera.state}
      decoder={decoder.state}
      checking={checking}
      torch={camera.torch}
      onTorch={camera.toggleTorch}
      onRetry={camera.retry}
      onReload={() => void decoder.load().catch(() => undefined)}
      texts={TEXTS}
    />
  )
}
