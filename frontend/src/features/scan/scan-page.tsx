import { Image, Keyboard } from 'lucide-react'
import { type ChangeEvent, useRef, useState } from 'react'
import { useNavigate } from 'react-router'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { paths } from '@/shared/lib/paths'
import { toast } from '@/shared/lib/toast'
import { useSubmit } from '@/shared/lib/use-submit'
import { decodeFile } from '@/shared/scan/picture'
import { useCamera } from '@/shared/scan/use-camera'
import { type Decoder, useDecoder } from '@/shared/scan/use-decoder'
import { useNewText } from '@/shared/scan/use-new-text'
import { useScanner } from '@/shared/scan/use-scanner'
import { Viewfinder } from '@/shared/scan/viewfinder'
import { Button } from '@/shared/ui/button'
import { Dialog } from '@/shared/ui/dialog'
import { Guide } from '@/shared/ui/guide'
import { Page } from '@/shared/ui/page'
import { CodeDialog } from './code-dialog'
import styles from './scan-page.module.css'
import { useFindMachine } from './use-find-machine'

export default function ScanPage() {
  const video = useRef<HTMLVideoElement>(null)
  const camera = useCamera(video)
  const find = useFindMachine()
  const [typing, setTyping] = useState(false)
  const isNew = useNewText()

  const decoder = useDecoder(camera.state === 'starting' || camera.state === 'live')
  const looking = camera.state === 'live' && !find.pending && !typing && !find.withoutEpay
  useScanner({
    video,
    decode: looking ? decoder.decode : null,
    onText: (text) => {
      if (isNew(text)) find.byQr(text)
    },
    onBroken: decoder.giveUp,
  })

  return (
    <Page title={spec.scan} back={paths.dashboard}>
      <Viewfinder
        video={video}
        state={camera.state}
        decoder={decoder.state}
        checking={find.pending}
        words={added.scan}
        torch={camera.torch}
        onTorch={camera.toggleTorch}
        onRetry={camera.retry}
        onReload={() => void decoder.load().catch(() => undefined)}
      />
      <div className={styles.ways}>
        <GalleryButton disabled={find.pending} load={decoder.load} onText={find.byQr} />
        <Button
          variant="secondary"
          className={styles.way}
          icon={<Keyboard size={20} aria-hidden />}
          disabled={find.pending}
          onClick={() => setTyping(true)}
        >
          {added.scan.typeCode}
        </Button>
      </div>
      <Guide title={spec.guide} steps={added.scan.steps} />
      <CodeDialog
        open={typing && !find.withoutEpay}
        pending={find.pending}
        onClose={() => setTyping(false)}
        onCode={find.byCode}
      />
      <NoEpayDialog
        open={find.withoutEpay}
        onClose={() => {
          setTyping(false)
          find.closeWithoutEpay()
        }}
      />
    </Page>
  )
}

interface GalleryProps {
  disabled: boolean
  load: Decoder['load']
  onText: (text: string) => void
}

function GalleryButton({ disabled, load, onText }: GalleryProps) {
  const input = useRef<HTMLInputElement>(null)
  const { pending, submit } = useSubmit(async (file: File) => {
    try {
      const text = await decodeFile(file, await load())
      if (text) onText(text)
      else toast.failure(added.scan.pictureWithoutQr, added.scan.pictureWithoutQrBody)
    } catch {
      toast.failure(added.scan.scannerFailed, added.scan.scannerFailedBody)
    }
  })

  function onChange(event: ChangeEvent<HTMLInputElement>) {
    const [file] = event.target.files ?? []
    // Choosing the same picture again must count as a choice.
    event.target.value = ''
    if (file) submit(file)
  }

  return (
    <>
      <input
        ref={input}
        type="file"
        accept="image/*"
        hidden
        aria-label={added.scan.gallery}
        onChange={onChange}
      />
      <Button
        variant="secondary"
        className={styles.way}
        icon={<Image size={20} aria-hidden />}
        disabled={disabled}
        pending={pending}
        onClick={() => input.current?.click()}
      >
        {added.scan.gallery}
      </Button>
    </>
  )
}

/** docs/product.md §8: no E-Pay balance for this outlet; top up at the cashier first. */
function NoEpayDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const navigate = useNavigate()
  return (
    <Dialog open={open} onClose={onClose} title={spec.epayNotFound}>
      <p className={styles.text}>{added.scan.modalBody}</p>
      <Button onClick={() => navigate(paths.topUp)}>{spec.topUp}</Button>
    </Dialog>
  )
}
