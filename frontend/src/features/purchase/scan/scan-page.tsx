import { Image, Keyboard } from 'lucide-react'
import { type ChangeEvent, useRef, useState } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { copy } from '@/shared/copy/copy'
import { later } from '@/shared/copy/later'
import { useSubmit } from '@/shared/lib/form/use-submit'
import { paths } from '@/shared/lib/page/paths'
import { cameFrom } from '@/shared/lib/page/trail'
import { toast } from '@/shared/lib/toast/toast'
import { codePicker } from '@/shared/scan/pick-code'
import { useCamera } from '@/shared/scan/use-camera'
import { type Decoder, useDecoder } from '@/shared/scan/use-decoder'
import { useScanner } from '@/shared/scan/use-scanner'
import { Viewfinder } from '@/shared/scan/viewfinder'
import { Button } from '@/shared/ui/button'
import { Dialog, Foot } from '@/shared/ui/dialog'
import { Page } from '@/shared/ui/page'
import { purchaseFlow } from '../purchase-flow'
import { readAgain } from './again'
import { CodeDialog } from './code-dialog'
import { isMachineQr } from './machine-code'
import { textsOfFile } from './picture'
import styles from './scan-page.module.css'
import { useFindMachine } from './use-find-machine'
import { useStillThere } from './use-still-there'

/** The dialog over the camera; while one is open, the scanner is paused. */
type Over = 'nothing' | 'code' | 'withoutEpay'

/** The screens that a sticker leads to. */
const STEPS: readonly string[] = [paths.pilihLayanan, paths.pilihEpay, paths.pembayaran]

/** The code scanned before the customer came back here; null when the customer came from another screen. */
const scannedBefore = () => (STEPS.includes(cameFrom()) ? (purchaseFlow.read()?.qr ?? null) : null)

export default function ScanPage() {
  const video = useRef<HTMLVideoElement>(null)
  const camera = useCamera(video)
  const [over, setOver] = useState<Over>('nothing')
  const { state } = useLocation()
  const again = readAgain(state)
  const find = useFindMachine(again, () => setOver('withoutEpay'))
  const close = () => setOver('nothing')
  const [pick] = useState(() => codePicker([isMachineQr]))
  const stillThere = useStillThere(scannedBefore)

  const decoder = useDecoder(camera.state === 'starting' || camera.state === 'live')
  const looking = camera.state === 'live' && !find.pending && over === 'nothing'
  useScanner({
    video,
    decode: looking ? decoder.decode : null,
    onTexts: (texts) => {
      const others = texts.filter((text) => !stillThere(text))
      // In view of the sticker that the customer came back from, only another machine's sticker counts.
      if (others.length < texts.length && !others.some(isMachineQr)) return
      const picked = pick(others)
      if (picked?.is === 'ours') find.byQr(picked.text)
      else if (picked) find.foreign()
    },
    onBroken: decoder.giveUp,
  })

  return (
    <Page title={copy.scan.title} back={paths.dashboard}>
      {again && <p className={styles.again}>{later.again.title(again.nama)}</p>}
      <Viewfinder
        className={styles.finder}
        video={video}
        state={camera.state}
        decoder={decoder.state}
        checking={find.pending}
        texts={copy.scan}
        torch={camera.torch}
        onTorch={camera.toggleTorch}
        onRetry={camera.retry}
        onReload={() => void decoder.load().catch(() => undefined)}
      />
      <div className={styles.ways}>
        <GalleryButton
          disabled={find.pending}
          load={decoder.load}
          onQr={find.byQr}
          onForeign={find.foreign}
        />
        <Button
          variant="secondary"
          className={styles.way}
          icon={<Keyboard size={20} aria-hidden />}
          disabled={find.pending}
          onClick={() => setOver('code')}
        >
          {copy.scan.typeCode}
        </Button>
      </div>
      <section className={styles.guide} aria-labelledby="guide">
        <h2 id="guide" className={styles.heading}>
          {copy.scan.guide}
        </h2>
        <ol className={styles.steps}>
          {copy.scan.steps.map((step) => (
            <li key={step} className={styles.step}>
              {step}
            </li>
          ))}
        </ol>
      </section>
      <CodeDialog open={over === 'code'} pending={find.pending} onClose={close} onCode={find.byCode} />
      <NoEpayDialog open={over === 'withoutEpay'} onClose={close} />
    </Page>
  )
}

interface GalleryProps {
  disabled: boolean
  load: Decoder['load']
  onQr: (qr: string) => void
  /** Called when the picture has codes, and none is a machine's of ours. */
  onForeign: () => void
}

function GalleryButton({ disabled, load, onQr, onForeign }: GalleryProps) {
  const input = useRef<HTMLInputElement>(null)
  const { pending, submit } = useSubmit(async (file: File) => {
    try {
      const texts = await textsOfFile(file, await load(), isMachineQr)
      const ours = texts.find(isMachineQr)
      if (ours !== undefined) onQr(ours)
      else if (texts.length > 0) onForeign()
      else toast.failure(copy.scan.pictureWithoutQr, copy.scan.pictureWithoutQrBody)
    } catch {
      toast.failure(copy.scan.scannerFailed, copy.scan.scannerFailedBody)
    }
  })

  function onChange(event: ChangeEvent<HTMLInputElement>) {
    const [file] = event.target.files ?? []
    // Reset, so that choosing the same picture again counts as a choice.
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
        aria-label={copy.scan.gallery}
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
        {copy.scan.gallery}
      </Button>
    </>
  )
}

/** docs/product.md §8: no E-Pay balance for this outlet; top up at the cashier first. */
function NoEpayDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const navigate = useNavigate()
  return (
    <Dialog open={open} onClose={onClose} title={copy.epay.notFound}>
      <p className={styles.text}>{copy.scan.modalBody}</p>
      <Foot>
        <Button onClick={() => navigate(paths.topUp)}>{copy.bar.topUp}</Button>
      </Foot>
    </Dialog>
  )
}
