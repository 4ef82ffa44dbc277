import { useQuery } from '@tanstack/react-query'
import { Check, X } from 'lucide-react'
import { useEffect, useEffectEvent, useRef } from 'react'
import { Button } from '@/shared/ui/button'
import { Empty } from '@/shared/ui/empty'
import { Kawung } from '@/shared/ui/kawung'
import { getOutlets } from '@/till/api/calls'
import { keys } from '@/till/api/keys'
import { getReadiness, type Readiness, shopKeys } from '@/till/api/shop-calls'
import type { Me, ShopOutlet } from '@/till/api/types'
import { navigate, paths, useSearch } from '@/till/lib/page/router'
import { Loaded } from '../loaded'
import styles from './buka.module.css'
import { buka } from './buka-copy'
import { DevicesStep } from './devices-step'
import { MachinesStep } from './machines-step'
import { OpenStep } from './open-step'
import { OutletStep } from './outlet-step'
import { ServicesStep } from './services-step'

const STEPS = [1, 2, 3, 4, 5] as const
type Step = (typeof STEPS)[number]

/** The items of the server's checklist that a step is about. */
const ITEMS: Record<Step, readonly string[]> = {
  1: ['outlet'],
  2: ['layanan'],
  3: ['mesin'],
  4: ['perangkat', 'uji'],
  5: ['petugas', 'tablet'],
}

/** The checklist changes by what devices and other people do. */
const LOOK_AGAIN_MS = 3_000

const stepOf = (text: string | null): Step | null => STEPS.find((one) => String(one) === text) ?? null

function go(idoutlet: number, step: Step, replace = false): void {
  navigate(`${paths.opening}?outlet=${idoutlet}&langkah=${step}`, { replace })
}

const toManage = () => navigate(`${paths.manage}?bagian=outlet`)

/** Opens a shop in five steps. Each is stored on the server at once, so that another browser may go on. */
export function Opening({ me }: { me: Me }) {
  const query = new URLSearchParams(useSearch())
  const id = Number(query.get('outlet')) || null
  const outlets = useQuery({ queryKey: keys.outlets, queryFn: ({ signal }) => getOutlets(signal) })
  const readiness = useQuery({
    queryKey: shopKeys.readiness(id ?? 0),
    queryFn: ({ signal }) => getReadiness(id ?? 0, signal),
    refetchInterval: LOOK_AGAIN_MS,
    enabled: id !== null,
  })
  if (id === null) {
    return (
      <Frame step={1} readiness={null} onStep={null}>
        <OutletStep me={me} here={null} onDone={(made) => go(made, 2)} />
      </Frame>
    )
  }
  return (
    <Loaded query={outlets}>
      {(data) => {
        const here = data.find(({ idoutlet }) => idoutlet === id)
        if (!here || here.dibuka_at !== null) {
          return (
            <Empty
              title={here ? buka.open : buka.gone}
              action={<Button onClick={toManage}>{buka.toManage}</Button>}
            />
          )
        }
        return (
          <Loaded query={readiness}>
            {(ready) => (
              <Steps
                me={me}
                here={here}
                readiness={ready}
                step={stepOf(query.get('langkah'))}
                onLook={() => void readiness.refetch()}
              />
            )}
          </Loaded>
        )
      }}
    </Loaded>
  )
}

interface StepsProps {
  me: Me
  here: ShopOutlet
  readiness: Readiness
  /** Null: where the server says that something is missing. */
  step: Step | null
  onLook: () => void
}

function Steps({ me, here, readiness, step: asked, onLook }: StepsProps) {
  const { idoutlet } = here
  const first = stepOf(String(readiness.langkah)) ?? 1
  const step = asked ?? first
  // Otherwise the page would jump to the next step as soon as nothing is missing in this one.
  useEffect(() => {
    if (asked === null) go(idoutlet, first, true)
  }, [asked, first, idoutlet])
  const look = useEffectEvent(onLook)
  // The step before has just changed what is missing.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of the step
  useEffect(() => look(), [step])
  const to = (next: Step) => () => go(idoutlet, next)
  return (
    <Frame step={step} readiness={readiness} onStep={(next) => go(idoutlet, next)}>
      {step === 1 && <OutletStep key={idoutlet} me={me} here={here} onDone={to(2)} />}
      {step === 2 && <ServicesStep idoutlet={idoutlet} onBack={to(1)} onDone={to(3)} />}
      {step === 3 && <MachinesStep me={me} idoutlet={idoutlet} onBack={to(2)} onDone={to(4)} />}
      {step === 4 && <DevicesStep idoutlet={idoutlet} readiness={readiness} onBack={to(3)} onDone={to(5)} />}
      {step === 5 && (
        <OpenStep me={me} here={here} readiness={readiness} onBack={to(4)} onOpened={toManage} />
      )}
    </Frame>
  )
}

interface FrameProps {
  step: Step
  readiness: Readiness | null
  /** Null while there is no outlet: the first step comes first. */
  onStep: ((step: Step) => void) | null
  /** Elements, no bare text: translation would lose it. */
  children: React.ReactElement | (React.ReactElement | false)[]
}

/** The steps beside the present one; on a phone as a bar above it. */
function Frame({ step, readiness, onStep, children }: FrameProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  const first = useRef(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of the step
  useEffect(() => {
    document.title = `${buka.title} · Kasir Nyala`
    if (!first.current) heading.current?.focus()
    first.current = false
  }, [step])
  const items = (one: Step) => readiness?.butir.filter(({ butir }) => ITEMS[one].includes(butir)) ?? []
  const isDone = (one: Step) => items(one).length > 0 && items(one).every(({ beres }) => beres)
  return (
    <div className={styles.page}>
      <nav className={styles.side} aria-label={buka.stepList}>
        <Kawung />
        <p className={styles.sideTitle}>{buka.title}</p>
        <ol className={styles.steps}>
          {STEPS.map((one) => (
            <li key={one}>
              <button
                type="button"
                className={styles.stepLink}
                aria-current={one === step ? 'step' : undefined}
                data-done={isDone(one) || undefined}
                disabled={onStep === null && one !== step}
                onClick={() => onStep?.(one)}
              >
                <span className={styles.mark}>
                  {isDone(one) && one !== step ? <Check size={18} aria-hidden /> : <span>{one}</span>}
                </span>
                <span className={styles.stepText}>
                  <strong>{buka.steps[one - 1]}</strong>
                  <span>{one === step ? buka.filling : (items(one)[0]?.teks ?? '')}</span>
                </span>
              </button>
            </li>
          ))}
        </ol>
        <p className={styles.kept}>{buka.kept}</p>
      </nav>
      <div className={styles.main}>
        <header className={styles.head}>
          <div className={styles.titles}>
            <p className={styles.small}>{buka.step(step)}</p>
            <h1 ref={heading} tabIndex={-1} className={styles.title}>
              {buka.steps[step - 1]}
            </h1>
            <p className={styles.small}>{buka.leads[step - 1]}</p>
          </div>
          <Button
            variant="secondary"
            className={styles.close}
            icon={<X size={20} aria-hidden />}
            onClick={toManage}
          >
            {buka.close}
          </Button>
        </header>
        {children}
      </div>
    </div>
  )
}
