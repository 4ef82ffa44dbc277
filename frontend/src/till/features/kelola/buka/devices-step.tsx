import { useQuery, useQueryClient } from '@tanstack/react-query'
import { CircleCheck, Download } from 'lucide-react'
import { useState } from 'react'
import { useSubmit } from '@/shared/lib/form/use-submit'
import { saveFile } from '@/shared/lib/page/save-file'
import { Button } from '@/shared/ui/button'
import { testStartOf } from '@/till/api/board-calls'
import { getMachines, makeOutletKeys, type Readiness, shopKeys } from '@/till/api/shop-calls'
import type { Tile } from '@/till/api/types'
import { moneyCalls } from '@/till/lib/money/money-calls'
import { useMoney } from '@/till/lib/money/use-money'
import { reasonOf } from '@/till/lib/page/explain'
import { notify } from '@/till/lib/page/notices'
import { useSession } from '@/till/lib/session/session'
import { useConnected } from '@/till/lib/session/use-connected'
import shared from '../kelola.module.css'
import { Loaded } from '../loaded'
import type { Saving } from '../use-save'
import styles from './buka.module.css'
import { buka } from './buka-copy'
import { StepFrame } from './step-frame'

/** Devices appear by themselves. */
const LOOK_AGAIN_MS = 2_000
/** Long enough to hear the relay. */
const TEST_S = 5
const SUBJECT = 'uji:'

/** Nothing is saved in this step by its own button: each action saves itself. */
const NO_SAVING: Saving<null> = { pending: false, fault: '', open: false, save: () => {}, again: () => {} }

interface Props {
  idoutlet: number
  readiness: Readiness
  onBack: () => void
  onDone: () => void
}

/** Keys for the devices, which then connect, and a test start of each. */
export function DevicesStep({ idoutlet, readiness, onBack, onDone }: Props) {
  const machines = useQuery({
    queryKey: shopKeys.machines(idoutlet),
    queryFn: ({ signal }) => getMachines(idoutlet, signal),
    refetchInterval: LOOK_AGAIN_MS,
  })
  const [tested, setTested] = useState<ReadonlySet<number>>(new Set())
  const onTested = (id: number) => setTested((before) => new Set([...before, id]))
  const texts = readiness.butir.filter(({ butir }) => butir === 'uji' || butir === 'sinyal')
  return (
    <StepFrame
      saving={NO_SAVING}
      label={buka.next[3]}
      note={buka.later}
      onNext={onDone}
      onBack={onBack}
      onAgain={() => undefined}
    >
      <Loaded query={machines}>
        {(data) => {
          const there = data.filter(({ keadaan }) => keadaan !== 'offline')
          return (
            <div className={styles.columns}>
              <section className={shared.panel} aria-label={buka.steps[3]}>
                <h2 className={shared.panelTitle}>{buka.connected(there.length, data.length)}</h2>
                <progress
                  className={styles.progress}
                  max={Math.max(data.length, 1)}
                  value={there.length}
                  aria-label={buka.connected(there.length, data.length)}
                />
                {texts.map(({ butir, teks }) => (
                  <p key={butir} className={shared.second}>
                    {teks}
                  </p>
                ))}
                <Keys idoutlet={idoutlet} />
                <TestAll
                  idoutlet={idoutlet}
                  machines={there.filter(({ id, aksi }) => !tested.has(id) && aksi.includes('uji'))}
                  onTested={onTested}
                />
              </section>
              <section className={shared.panel} aria-label={buka.steps[2]}>
                <ul>
                  {data.map((one) => (
                    <Device
                      key={one.id}
                      machine={one}
                      tested={tested.has(one.id)}
                      onTested={() => onTested(one.id)}
                    />
                  ))}
                </ul>
              </section>
            </div>
          )
        }}
      </Loaded>
    </StepFrame>
  )
}

/** Asked again, the devices that have not used their keys get new ones. */
function Keys({ idoutlet }: { idoutlet: number }) {
  const connected = useConnected()
  const { pending, submit } = useSubmit(
    async () => {
      const { kunci } = await makeOutletKeys(idoutlet)
      if (kunci.length === 0) return notify.info(buka.keysNone)
      const lines = kunci.map((login) => `${JSON.stringify(login)}\n`).join('')
      saveFile(buka.keysFile(idoutlet), new Blob([lines], { type: 'application/x-ndjson' }))
      notify.info(buka.keysSaved(kunci.length))
    },
    (error) => notify.failure(reasonOf(error)),
  )
  return (
    <>
      <Button
        variant="secondary"
        icon={<Download size={20} aria-hidden />}
        pending={pending}
        disabled={!connected && !pending}
        onClick={submit}
      >
        {buka.keys}
      </Button>
      <p className={shared.second}>{buka.keysBody}</p>
    </>
  )
}

interface TestAllProps {
  idoutlet: number
  machines: readonly Tile[]
  onTested: (id: number) => void
}

/** Starts the machines one after the other: a shop's fuse carries no more. */
function TestAll({ idoutlet, machines, onTested }: TestAllProps) {
  const who = useSession(({ session }) => session?.petugas.id)
  const client = useQueryClient()
  const connected = useConnected()
  const { pending, submit } = useSubmit(
    async () => {
      if (who === undefined) return
      for (const { id, nama } of machines) {
        const request = testStartOf(id, TEST_S)
        await moneyCalls.run({ subject: `${SUBJECT}${id}`, what: buka.testWhat(nama), request, who })
        onTested(id)
      }
      await client.invalidateQueries({ queryKey: shopKeys.readiness(idoutlet) })
    },
    (error) => notify.failure(reasonOf(error)),
  )
  if (machines.length === 0 && !pending) return null
  return (
    <Button pending={pending} disabled={!connected && !pending} onClick={submit}>
      {buka.testAll(machines.length)}
    </Button>
  )
}

interface DeviceProps {
  machine: Tile
  tested: boolean
  onTested: () => void
}

function Device({ machine: { id, nama, keadaan, aksi }, tested, onTested }: DeviceProps) {
  const money = useMoney<unknown>(`${SUBJECT}${id}`, { onDone: onTested })
  const off = keadaan === 'offline'
  const [look, text] = money.fault
    ? ['bad', money.fault]
    : tested
      ? ['good', buka.tested]
      : off
        ? ['offline', buka.waiting]
        : keadaan === 'jalan'
          ? ['good', buka.testing]
          : ['good', buka.ready]
  return (
    <li className={shared.rule}>
      <span className={shared.ruleText}>
        <strong>{nama}</strong>
        <span className={shared.state} data-state={look} data-under>
          {text}
        </span>
      </span>
      {tested ? (
        <CircleCheck size={24} className={styles.good} aria-hidden />
      ) : (
        (aksi.includes('uji') || money.pending || money.unanswered) && (
          <Button
            variant="quiet"
            className={shared.small}
            pending={money.pending}
            aria-label={buka.testOf(nama)}
            onClick={() =>
              money.unanswered ? money.again() : money.send(buka.testWhat(nama), testStartOf(id, TEST_S))
            }
          >
            {buka.test}
          </Button>
        )
      )}
    </li>
  )
}
