import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useForm } from '@/shared/lib/form/use-form'
import { useSubmit } from '@/shared/lib/form/use-submit'
import { rupiah } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import { Dialog, Foot } from '@/shared/ui/dialog'
import { Empty } from '@/shared/ui/empty'
import { Failed } from '@/shared/ui/failed'
import { Field } from '@/shared/ui/field'
import { Spinner } from '@/shared/ui/spinner'
import { refundOf } from '@/till/api/calls'
import { type Complaint, complaintKeys, getOpenComplaints, rejectComplaint } from '@/till/api/complaint-calls'
import { keys } from '@/till/api/keys'
import type { Attention, MoneyBack } from '@/till/api/types'
import { useMoney } from '@/till/lib/money/use-money'
import { reasonOf } from '@/till/lib/page/explain'
import { notify } from '@/till/lib/page/notices'
import { useConnected } from '@/till/lib/session/use-connected'
import { useOutletMoment } from '@/till/lib/session/use-outlet-moment'
import { AmountPad } from '@/till/ui/amount-pad'
import { EventList } from '@/till/ui/event-list'
import { Rows } from '@/till/ui/rows'
import { Unanswered } from '@/till/ui/unanswered'
import { View } from '@/till/ui/view'
import { keluhan as copy } from './perhatian-copy'
import styles from './perhatian-page.module.css'

/** The server's limit. */
const LONGEST = 500

interface Props {
  entry: Attention
  onClose: () => void
}

/** A customer's complaint with its evidence: money goes back, or it is rejected with a sentence. */
export function ComplaintDialog({ entry, onClose }: Props) {
  const [typed, setTyped] = useState(false)
  const complaints = useQuery({
    queryKey: complaintKeys.open(entry.idoutlet),
    queryFn: ({ signal }) => getOpenComplaints(entry.idoutlet, signal),
    retry: false,
    // What is being decided must not go away under the hand.
    refetchOnWindowFocus: false,
  })
  const complaint = complaints.data?.baris.find(({ idkeluhan }) => idkeluhan === entry.idkeluhan)
  const [shown, setShown] = useState<Complaint | null>(null)
  if (complaint && shown === null) setShown(complaint)
  return (
    <Dialog open onClose={onClose} title={copy.title(entry.nama)} typed={typed}>
      {shown ? (
        <Decision complaint={shown} idoutlet={entry.idoutlet} onTyped={setTyped} onClose={onClose} />
      ) : complaints.isError ? (
        <Failed
          error={complaints.error}
          pending={complaints.isFetching}
          onRetry={() => void complaints.refetch()}
        />
      ) : complaints.isFetching ? (
        <Spinner large />
      ) : (
        <Empty title={copy.gone} />
      )}
    </Dialog>
  )
}

interface DecisionProps {
  complaint: Complaint
  idoutlet: number
  /** Whether closing would lose a typed sentence. */
  onTyped: (typed: boolean) => void
  onClose: () => void
}

function Decision({ complaint, idoutlet, onTyped, onClose }: DecisionProps) {
  const { idkeluhan, idtransaksi, idcustomer, mesin, alasan, grandtotal, dikembalikan } = complaint
  const client = useQueryClient()
  const connected = useConnected()
  const most = grandtotal - dikembalikan
  const [amount, setAmount] = useState(most)
  const [step, setStep] = useState<'details' | 'amount' | 'reject'>('details')
  const look = () => {
    for (const queryKey of [keys.attention, keys.uses, complaintKeys.open(idoutlet)])
      void client.invalidateQueries({ queryKey })
  }
  const money = useMoney<MoneyBack>(`use:${idtransaksi}:${idcustomer}`, {
    onDone: ({ jumlah }) => {
      notify.info(copy.refunded(rupiah(jumlah)))
      look()
      onClose()
    },
    onRefused: look,
  })
  if (money.unanswered) return <Unanswered money={money} />
  if (step === 'amount') {
    const use = () => {
      if (amount > 0) setStep('details')
    }
    return (
      <View label={copy.change}>
        <AmountPad
          label={copy.amount(rupiah(most))}
          value={amount}
          max={most}
          replace
          onChange={setAmount}
          onEnter={use}
        />
        <Button disabled={amount === 0} onClick={use}>
          {amount > 0 ? copy.use(rupiah(amount)) : copy.typeAmount}
        </Button>
      </View>
    )
  }
  if (step === 'reject') {
    return (
      <Reject
        idkeluhan={idkeluhan}
        onTyped={onTyped}
        onBack={() => setStep('details')}
        onDone={() => {
          notify.info(copy.rejected)
          look()
          onClose()
        }}
        onRefused={look}
      />
    )
  }
  const refund = () =>
    money.send(
      copy.whatRefund(rupiah(amount), mesin),
      refundOf(complaint, amount, copy.reasonOf(copy.reasons[alasan] ?? alasan), idkeluhan),
    )
  const off = !connected && !money.pending
  return (
    <View label={copy.title(mesin)}>
      <Evidence complaint={complaint} idoutlet={idoutlet} />
      {money.fault && (
        <p role="alert" className={styles.fault}>
          {money.fault}
        </p>
      )}
      <Foot>
        <Button pending={money.pending} disabled={off || amount === 0} onClick={refund}>
          {copy.refund(rupiah(amount))}
        </Button>
        <div className={styles.pair}>
          <Button variant="secondary" disabled={money.pending} onClick={() => setStep('amount')}>
            {copy.change}
          </Button>
          <Button variant="danger" disabled={off || money.pending} onClick={() => setStep('reject')}>
            {copy.reject}
          </Button>
        </div>
      </Foot>
    </View>
  )
}

/** The customer's complaint, and the evidence for it. */
function Evidence({ complaint, idoutlet }: { complaint: Complaint; idoutlet: number }) {
  const { idtransaksi, alasan, catatan, created_at, grandtotal, dikembalikan, bukti } = complaint
  const moment = useOutletMoment(idoutlet)
  const { riwayat, perangkat, bulan_ini } = bukti
  const lost_min = perangkat
    ? Math.round(perangkat.sinyal.reduce((sum, { putus }) => sum + putus, 0) / 60)
    : 0
  return (
    <>
      {catatan && <blockquote className={styles.note}>{catatan}</blockquote>}
      <Rows
        rows={[
          [copy.what, copy.reasons[alasan] ?? alasan],
          [copy.told, moment(created_at)],
          [copy.price, rupiah(grandtotal)],
          [copy.returned, dikembalikan > 0 ? rupiah(dikembalikan) : null],
          [copy.receipt, idtransaksi],
        ]}
      />
      <section className={styles.part}>
        <h3 className={styles.partTitle}>{copy.history}</h3>
        <EventList events={riwayat} />
      </section>
      {perangkat && (
        <section className={styles.part}>
          <h3 className={styles.partTitle}>{copy.device}</h3>
          <Rows
            rows={[
              [copy.signal, perangkat.rssi === null ? null : copy.dbm(perangkat.rssi)],
              [copy.heard, perangkat.terdengar_at === null ? null : moment(perangkat.terdengar_at)],
              [copy.restarts, String(perangkat.boot_hari_ini)],
              [copy.lost, copy.minutes(lost_min)],
            ]}
          />
        </section>
      )}
      <p className={styles.often}>{copy.often(bulan_ini)}</p>
    </>
  )
}

interface RejectProps {
  idkeluhan: number
  onTyped: (typed: boolean) => void
  onBack: () => void
  onDone: () => void
  onRefused: () => void
}

function Reject({ idkeluhan, onTyped, onBack, onDone, onRefused }: RejectProps) {
  const connected = useConnected()
  const [text, setText] = useState('')
  const [fault, setFault] = useState('')
  const { pending, submit } = useSubmit(
    async () => {
      setFault('')
      await rejectComplaint(idkeluhan, text.trim())
      onTyped(false)
      onDone()
    },
    (error) => {
      setFault(reasonOf(error))
      onRefused()
    },
  )
  const { form, field } = useForm<'answer'>(
    () => (text.trim() === '' ? { answer: copy.answerMissing } : {}),
    () => submit(),
  )
  return (
    <View label={copy.rejectNow}>
      <form {...form} className={styles.form}>
        <Field
          label={copy.answer}
          {...field('answer')}
          hint={copy.answerHint}
          value={text}
          maxLength={LONGEST}
          autoComplete="off"
          disabled={pending}
          onChange={(event) => {
            setText(event.target.value)
            onTyped(event.target.value.trim() !== '')
          }}
        />
        {fault && (
          <p role="alert" className={styles.fault}>
            {fault}
          </p>
        )}
        <Button type="submit" variant="danger" pending={pending} disabled={!connected && !pending}>
          {copy.rejectNow}
        </Button>
        <Button
          variant="quiet"
          disabled={pending}
          onClick={() => {
            onTyped(false)
            onBack()
          }}
        >
          {copy.back}
        </Button>
      </form>
    </View>
  )
}
