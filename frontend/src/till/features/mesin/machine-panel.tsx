import { useQuery, useQueryClient } from '@tanstack/react-query'
import { RefreshCw } from 'lucide-react'
import { useEffect, useEffectEvent, useState } from 'react'
import { useSubmit } from '@/shared/lib/form/use-submit'
import { rupiah } from '@/shared/lib/text/format'
import { useCountdown } from '@/shared/realtime/use-countdown'
import { Button } from '@/shared/ui/button'
import {
  askMachine,
  closingOfMachine,
  machineDetails,
  openingOfMachine,
  serviceOf,
  stopOfMachine,
  testStartOf,
} from '@/till/api/board-calls'
import type { Tile } from '@/till/api/types'
import { lookOf, stateName } from '@/till/lib/machine/state-name'
import { useMoney } from '@/till/lib/money/use-money'
import { reasonOf } from '@/till/lib/page/explain'
import { notify } from '@/till/lib/page/notices'
import { useZone } from '@/till/lib/page/zone'
import { clockThere, momentThere } from '@/till/lib/page/zone-clock'
import { useConnected } from '@/till/lib/session/use-connected'
import { Decide } from '@/till/ui/decide'
import { Rows } from '@/till/ui/rows'
import { Unanswered } from '@/till/ui/unanswered'
import { View } from '@/till/ui/view'
import { showTile } from './board-connection'
import { PulseTest, Timings } from './coin-machine'
import { MachineDetails } from './machine-details'
import styles from './machine-panel.module.css'
import { mesinCopy } from './mesin-copy'
import { kindName } from './states'

export type Step = 'details' | 'close' | 'stop' | 'pulses' | 'timings'

interface Props {
  tile: Tile
  rights: readonly string[]
  /** The step to begin with. */
  first: Step
}

/** Long enough for a look at the drum. */
const TEST_S = 60

/** The subject of a machine's calls, for `useMoney`. */
export const MACHINE_SUBJECT = 'mesin:'

/** One machine: what is known of it, and the actions that can succeed now and that this person may do. */
export function MachinePanel({ tile, rights, first }: Props) {
  const { id, nama, aksi, ditutup } = tile
  const [step, setStep] = useState<Step>(first)
  const connected = useConnected()
  const client = useQueryClient()
  const zone = useZone()
  const starts = useQuery(machineDetails(id)).data?.menyala
  const byPulses = starts?.cara === 'pulsa'
  const calls = useMoney<unknown>(`${MACHINE_SUBJECT}${id}`, {
    onDone: (_, { path }) => {
      setStep('details')
      notify.info(doneText(path, nama, byPulses))
      void client.invalidateQueries({ queryKey: machineDetails(id).queryKey })
    },
    onRefused: () => setStep((now) => (now === 'pulses' || now === 'timings' ? now : 'details')),
  })
  const may = (action: string) => aksi.includes(action) && rights.includes(`mesin.${action}`)
  useAskWhenChanged(tile.keadaan, calls.unanswered !== null, calls.again)

  if (step === 'close' && (may('tutup') || calls.pending)) {
    return (
      <Decide
        money={calls}
        what={mesinCopy.closeWhat(nama)}
        reasons={mesinCopy.reasonsClose}
        label={mesinCopy.close}
        approval={null}
        request={(alasan) => closingOfMachine(id, alasan)}
      >
        <Back disabled={calls.pending} onClick={() => setStep('details')} />
      </Decide>
    )
  }
  if (step === 'stop' && (may('stop') || calls.pending)) {
    return (
      <Decide
        money={calls}
        what={mesinCopy.stopWhat(nama)}
        reasons={mesinCopy.reasonsStop}
        label={mesinCopy.stop}
        danger
        approval={null}
        request={(alasan) => stopOfMachine(id, alasan)}
      >
        <Back disabled={calls.pending} onClick={() => setStep('details')} />
      </Decide>
    )
  }
  const back = <Back disabled={calls.pending} onClick={() => setStep('details')} />
  if (step === 'pulses' && !calls.unanswered && (may('uji') || calls.pending)) {
    return (
      <PulseTest id={id} nama={nama} calls={calls}>
        {back}
      </PulseTest>
    )
  }
  if (step === 'timings' && !calls.unanswered && starts && (ditutup || calls.pending)) {
    return (
      <Timings id={id} nama={nama} calls={calls} now={starts}>
        {back}
      </Timings>
    )
  }
  return (
    <View label={nama}>
      <State tile={tile} />
      {tile.jumlah !== null && <Held amount={tile.jumlah} back_at={tile.kembali_at} />}
      <Rows rows={rowsOf(tile, zone)} />
      {calls.fault && (
        <p role="alert" className={styles.fault}>
          {calls.fault}
        </p>
      )}
      {calls.unanswered ? (
        <Unanswered money={calls} />
      ) : (
        <div className={styles.actions}>
          {may('tanya') && <Ask tile={tile} primary={!may('buka')} />}
          {may('buka') && (
            <Button
              pending={calls.pending}
              disabled={!connected && !calls.pending}
              onClick={() => calls.send(mesinCopy.openWhat(nama), openingOfMachine(id))}
            >
              {mesinCopy.open}
            </Button>
          )}
          {may('uji') && byPulses && (
            <Button variant="secondary" disabled={!connected} onClick={() => setStep('pulses')}>
              {mesinCopy.pulses}
            </Button>
          )}
          {ditutup && byPulses && rights.includes('mesin.waktu') && (
            <Button variant="secondary" disabled={!connected} onClick={() => setStep('timings')}>
              {mesinCopy.timings}
            </Button>
          )}
          {may('uji') && starts && !byPulses && (
            <Button
              variant="secondary"
              disabled={!connected}
              onClick={() => calls.send(mesinCopy.testWhat(nama), testStartOf(id, TEST_S))}
            >
              {mesinCopy.test}
            </Button>
          )}
          {rights.includes('mesin.servis') && (
            <Button
              variant="secondary"
              disabled={!connected}
              onClick={() => calls.send(mesinCopy.serviceWhat(nama), serviceOf(id))}
            >
              {mesinCopy.noteService}
            </Button>
          )}
          {may('tutup') && (
            <Button variant="secondary" disabled={!connected} onClick={() => setStep('close')}>
              {mesinCopy.close}
            </Button>
          )}
          {may('stop') && (
            <Button variant="danger" disabled={!connected} onClick={() => setStep('stop')}>
              {mesinCopy.stop}
            </Button>
          )}
        </div>
      )}
      <MachineDetails tile={tile} />
    </View>
  )
}

/** Asks the machine's device what it does: the answer moves no money by itself. */
function Ask({ tile: { id, nama }, primary }: { tile: Tile; primary: boolean }) {
  const connected = useConnected()
  const [fault, setFault] = useState('')
  const { pending, submit } = useSubmit(async () => {
    setFault('')
    try {
      const tile = await askMachine(id)
      showTile(tile)
      notify.info(mesinCopy.answered(nama, stateName(tile.keadaan).toLocaleLowerCase('id')))
    } catch (error) {
      setFault(reasonOf(error))
    }
  })
  return (
    <>
      {fault && (
        <p role="alert" className={styles.fault}>
          {fault}
        </p>
      )}
      <Button
        variant={primary ? 'primary' : 'secondary'}
        icon={<RefreshCw size={20} aria-hidden />}
        data-ask
        pending={pending}
        disabled={!connected && !pending}
        onClick={submit}
      >
        {mesinCopy.ask}
      </Button>
    </>
  )
}

/** Asks for the outcome of an unanswered call when the machine's state has changed: the call may be the cause. */
function useAskWhenChanged(keadaan: string, unanswered: boolean, ask: () => void): void {
  const look = useEffectEvent(() => {
    if (unanswered) ask()
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of the state
  useEffect(() => look(), [keadaan])
}

function doneText(path: string, nama: string, byPulses: boolean): string {
  if (path.endsWith('/uji')) return byPulses ? mesinCopy.pulsesDone(nama) : mesinCopy.tested(nama)
  if (path.endsWith('/servis')) return mesinCopy.serviced(nama)
  if (path.endsWith('/tutup')) return mesinCopy.closed(nama)
  if (path.endsWith('/buka')) return mesinCopy.opened(nama)
  return path.endsWith('/stop') ? mesinCopy.stopped(nama) : mesinCopy.timingsDone(nama)
}

function Back({ disabled, onClick }: { disabled: boolean; onClick: () => void }) {
  return (
    <Button variant="quiet" disabled={disabled} onClick={onClick}>
      {mesinCopy.back}
    </Button>
  )
}

function State({ tile: { keadaan, sejak } }: { tile: Tile }) {
  const zone = useZone()
  return (
    <p className={styles.state} data-state={lookOf(keadaan) ?? 'unknown'}>
      <strong>{stateName(keadaan)}</strong>
      {sejak !== null && <span>{mesinCopy.stateSince(sejak, zone)}</span>}
    </p>
  )
}

/** Money of a customer that is neither theirs nor the outlet's yet: amber, because its time runs. */
function Held({ amount, back_at }: { amount: number; back_at: string | null }) {
  const left_s = useCountdown(back_at === null ? null : new Date(back_at).getTime())
  return (
    <div className={styles.held}>
      <p className={styles.amount}>
        <span>{mesinCopy.held}</span>
        <strong className={`digits ${styles.sum}`}>{rupiah(amount)}</strong>
      </p>
      {left_s !== null && <p>{left_s > 0 ? mesinCopy.heldBack(left_s * 1000) : mesinCopy.heldDue}</p>}
    </div>
  )
}

function rowsOf(
  { jenis, ukuran, idtransaksi, layanan, ends_at, ditutup }: Tile,
  zone: string,
): [string, string | null][] {
  return [
    [mesinCopy.kind, kindName(jenis)],
    [mesinCopy.size, ukuran],
    [mesinCopy.service, layanan],
    [mesinCopy.receipt, idtransaksi],
    [mesinCopy.ends, ends_at === null ? null : clockThere(ends_at, zone)],
    [mesinCopy.closedWhy, ditutup?.alasan ?? null],
    [mesinCopy.closedBy, ditutup?.oleh ?? null],
    [mesinCopy.closedSince, ditutup ? momentThere(Date.parse(ditutup.sejak), zone, Date.now()) : null],
  ]
}
