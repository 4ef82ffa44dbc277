import { ArrowLeft } from 'lucide-react'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import { rupiah } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import { IconButton } from '@/shared/ui/icon-button'
import { closingOf, handoverOf } from '@/till/api/calls'
import type { Shift, ShiftClosed } from '@/till/api/types'
import {
  type Count,
  counted,
  isCoins,
  many,
  mostOf,
  nextPiece,
  PIECES,
  put,
  step,
  total,
  worth,
} from '@/till/lib/money/cash-count'
import type { Money } from '@/till/lib/money/use-money'
import { notify } from '@/till/lib/page/notices'
import { useConnected } from '@/till/lib/session/use-connected'
import { ExtraKey, Keypad } from '@/till/ui/keypad'
import styles from './count-view.module.css'
import { countDraft } from './draft'
import { HandoverDialog } from './handover-dialog'
import { OnceMoreDialog } from './once-more-dialog'

interface Props {
  shift: Shift
  who: number
  closing: Money<ShiftClosed>
  /** The server has requested a second count, and waits for the decision. */
  doubtful: boolean
  onAsked: () => void
  onBack: () => void
}

/** Without `Rp`, as printed on the note. */
const plain = (value: number) => rupiah(value).slice(3)
const nameOf = (piece: string) => (isCoins(piece) ? 'Koin' : plain(Number(piece)))

/** The blind count: the cash in the drawer, counted before the expected sum is shown. */
export function CountView({ shift, who, closing, doubtful, onAsked, onBack }: Props) {
  const connected = useConnected()
  const [count, setCount] = useState(() => countDraft.read(shift.id, who))
  const [chosen, setChosen] = useState<string | null>(null)
  const [handing, setHanding] = useState(false)
  // The action to confirm before it closes the shift for good.
  const [asked, setAsked] = useState<'save' | 'handover' | null>(null)
  const [sure, setSure] = useState(false)
  // The first digit after a choice replaces the previous number.
  const fresh = useRef(true)
  const heading = useRef<HTMLHeadingElement>(null)
  const why = useId()
  useEffect(() => {
    heading.current?.focus({ preventScroll: true })
    // An earlier notice would lie over the buttons.
    notify.clear()
  }, [])

  function change(next: Count) {
    setSure(false)
    setCount(next)
    countDraft.write(shift.id, who, next)
  }
  function choose(piece: string | null) {
    fresh.current = true
    setChosen(piece)
  }
  /** On a tablet the keypad is always visible, and starts with the largest note. */
  const first = PIECES[0] as string
  const typing = chosen ?? first
  function type(digits: string) {
    const longer = Number(`${fresh.current ? '' : many(count, typing)}${digits}`)
    if (longer > mostOf(typing)) return
    setChosen(typing)
    fresh.current = false
    change(put(count, typing, longer))
  }
  function back() {
    change(put(count, typing, fresh.current ? 0 : Math.floor(many(count, typing) / 10)))
    setChosen(typing)
    fresh.current = false
  }
  const go = () => choose(nextPiece(typing))

  const sum = total(count)
  function save(yakin: boolean) {
    closing.send(`Tutup shift dengan ${rupiah(sum)} di laci.`, closingOf(counted(count), yakin))
  }
  const question = doubtful ? (handing ? 'handover' : 'save') : asked
  function decide(stands: boolean) {
    setAsked(null)
    onAsked()
    setHanding(stands && question === 'handover')
    setSure(stands)
    if (stands && question === 'save') save(true)
  }
  const busy = closing.pending
  const off = !connected && !busy
  return (
    <div className={styles.page} data-typing={chosen !== null || undefined}>
      <div className={styles.head}>
        <IconButton label="Kembali" className={styles.back} disabled={busy} onClick={onBack}>
          <ArrowLeft size={24} aria-hidden />
        </IconButton>
        <div>
          <h2 ref={heading} tabIndex={-1} className={styles.title}>
            Tutup shift
          </h2>
          <p className={styles.lead}>
            Hitung uang di laci. Jumlah seharusnya baru tampil sesudah Anda simpan.
          </p>
        </div>
      </div>
      <ul className={styles.pieces} aria-label="Isi laci">
        {PIECES.map((piece) => (
          <Piece
            key={piece}
            piece={piece}
            count={count}
            chosen={piece === chosen}
            disabled={busy}
            onChange={change}
            onChoose={() => choose(piece)}
            onEnter={() => choose(nextPiece(piece))}
          />
        ))}
      </ul>
      <div className={styles.side}>
        <p className={styles.sum} role="status">
          <span>Uang di laci</span>{' '}
          <strong className="digits" translate="no">
            {rupiah(sum)}
          </strong>
        </p>
        <Keypad
          label={`Jumlah ${nameOf(typing)}`}
          className={styles.keypad}
          disabled={busy}
          onDigits={type}
          onBack={back}
          onEnter={go}
          remember={() => {
            const wasFresh = fresh.current
            return () => {
              change(count)
              setChosen(chosen)
              fresh.current = wasFresh
            }
          }}
          extra={<ExtraKey onClick={go}>{nextPiece(typing) === null ? 'Selesai' : 'Lanjut'}</ExtraKey>}
        />
        {closing.fault && !closing.unanswered && !handing && (
          <p role="alert" className={styles.fault}>
            {closing.fault}
          </p>
        )}
        <p id={why} className={styles.why}>
          {off
            ? 'Tidak ada sambungan, shift belum bisa ditutup.'
            : 'Keduanya menutup shift ini. Catatan selisih hanya bisa sesudah Simpan hitungan.'}
        </p>
        <div className={styles.buttons}>
          <Button
            variant="secondary"
            disabled={off || busy}
            aria-describedby={why}
            onClick={() => (sum === 0 ? setAsked('handover') : setHanding(true))}
          >
            Serah terima
          </Button>
          <Button
            disabled={off}
            pending={busy && !handing}
            aria-describedby={why}
            onClick={() => (sum === 0 ? setAsked('save') : save(sure))}
          >
            {sum === 0 ? 'Simpan Rp 0' : 'Simpan hitungan'}
          </Button>
        </div>
      </div>
      <HandoverDialog
        open={handing && question === null}
        who={who}
        sum={sum}
        pending={busy}
        fault={closing.fault}
        onClose={() => setHanding(false)}
        onPin={(idpetugas, name, pin) =>
          closing.send(
            `Serah terima kepada ${name} dengan ${rupiah(sum)} di laci.`,
            handoverOf(counted(count), { idpetugas, pin }, sure),
          )
        }
      />
      <OnceMoreDialog open={question !== null} sum={sum} onDecided={decide} />
    </div>
  )
}

interface PieceProps {
  piece: string
  count: Count
  chosen: boolean
  disabled: boolean
  onChange: (count: Count) => void
  onChoose: () => void
  onEnter: () => void
}

function Piece({ piece, count, chosen, disabled, onChange, onChoose, onEnter }: PieceProps) {
  const row = useRef<HTMLLIElement>(null)
  const name = nameOf(piece)
  const number = many(count, piece)
  // Runs before the next key event.
  useLayoutEffect(() => {
    if (!chosen) return
    row.current?.scrollIntoView({ block: 'nearest' })
    // If one of these fields has the focus, this one takes it.
    if (row.current?.parentElement?.contains(document.activeElement))
      row.current.querySelector('input')?.focus()
  }, [chosen])
  return (
    <li ref={row} className={styles.piece} data-chosen={chosen || undefined}>
      <span className={`digits ${styles.name}`}>{name}</span>
      <span className={styles.stepper}>
        <button
          type="button"
          className={styles.step}
          aria-label={`Kurangi ${name}`}
          disabled={disabled}
          onClick={() => onChange(step(count, piece, -1))}
        >
          −
        </button>
        <input
          className={`digits ${styles.number}`}
          aria-label={isCoins(piece) ? 'Koin, rupiah' : `Lembar ${name}`}
          // The till shows its own keypad; a real keyboard still types here.
          inputMode="none"
          autoComplete="off"
          disabled={disabled}
          value={plain(number)}
          onFocus={(event) => {
            event.target.select()
            onChoose()
          }}
          onChange={(event) => onChange(put(count, piece, Number(event.target.value.replace(/\D/g, ''))))}
          onKeyDown={(event) => {
            if (event.key === 'Enter') onEnter()
            else if (event.key === 'ArrowUp') onChange(step(count, piece, 1))
            else if (event.key === 'ArrowDown') onChange(step(count, piece, -1))
            else return
            event.preventDefault()
          }}
        />
        <button
          type="button"
          className={styles.step}
          aria-label={`Tambah ${name}`}
          disabled={disabled}
          onClick={() => onChange(step(count, piece, 1))}
        >
          +
        </button>
      </span>
      <span className={`digits ${styles.worth}`}>{plain(worth(count, piece))}</span>
    </li>
  )
}
