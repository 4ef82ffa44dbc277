import { useQuery, useQueryClient } from '@tanstack/react-query'
import { CircleAlert, CircleCheck, CircleDashed, Plus, Store } from 'lucide-react'
import { useState } from 'react'
import { Button } from '@/shared/ui/button'
import { keys } from '@/till/api/keys'
import { getMachines, getStaff, getTills, openOutlet, type Readiness, shopKeys } from '@/till/api/shop-calls'
import type { Me, ShopOutlet } from '@/till/api/types'
import { notify } from '@/till/lib/page/notices'
import { roleName } from '@/till/lib/session/role-name'
import shared from '../kelola.module.css'
import { Loaded } from '../loaded'
import { perangkat, petugas } from '../orang/orang-copy'
import { HireDialog } from '../orang/staff-dialogs'
import { InviteDialog, TillDialog } from '../orang/till-dialogs'
import { Print } from '../stiker/stickers-view'
import { useSave } from '../use-save'
import styles from './buka.module.css'
import { buka } from './buka-copy'
import { StepFrame } from './step-frame'

/** Somebody makes a PIN, or a tablet is paired, elsewhere. */
const LOOK_AGAIN_MS = 3_000

interface Props {
  me: Me
  here: ShopOutlet
  readiness: Readiness
  onBack: () => void
  onOpened: () => void
}

/** People, tablets and stickers; then the outlet is opened. */
export function OpenStep({ me, here, readiness, onBack, onOpened }: Props) {
  const { idoutlet, nama } = here
  const client = useQueryClient()
  const machines = useQuery({
    queryKey: shopKeys.machines(idoutlet),
    queryFn: ({ signal }) => getMachines(idoutlet, signal),
  })
  const saving = useSave<null>({
    async onDone() {
      notify.info(buka.opened(nama))
      await Promise.all([keys.outlets, keys.me].map((queryKey) => client.invalidateQueries({ queryKey })))
      onOpened()
    },
    onRefused() {
      void client.invalidateQueries({ queryKey: shopKeys.readiness(idoutlet) })
      return false
    },
  })
  const send = () => openOutlet(idoutlet)
  return (
    <StepFrame
      saving={saving}
      label={buka.openNow(nama)}
      icon={<Store size={20} aria-hidden />}
      disabled={!readiness.siap}
      note={readiness.siap ? buka.after : buka.notReady}
      onNext={() => saving.save(send)}
      onBack={onBack}
      onAgain={() => saving.again(send)}
    >
      <div className={styles.columns}>
        <div className={shared.form}>
          <Staff me={me} idoutlet={idoutlet} />
          <Tablets me={me} idoutlet={idoutlet} />
        </div>
        <div className={shared.form}>
          <Checklist readiness={readiness} />
          <section className={shared.panel} aria-label={buka.stickers}>
            <h2 className={shared.panelTitle}>{buka.stickers}</h2>
            <Loaded query={machines}>{(data) => <Print ids={data.map(({ id }) => id)} />}</Loaded>
          </section>
        </div>
      </div>
    </StepFrame>
  )
}

function Checklist({ readiness: { butir } }: { readiness: Readiness }) {
  const done = butir.filter(({ beres }) => beres).length
  return (
    <section className={shared.panel} aria-label={buka.ready8}>
      <div className={shared.rulesHead}>
        <h2 className={shared.panelTitle}>{buka.ready8}</h2>
        <span className={shared.tag}>{buka.readyCount(done, butir.length)}</span>
      </div>
      <ul>
        {butir.map(({ butir: what, wajib, beres, teks }) => {
          const Icon = beres ? CircleCheck : wajib ? CircleDashed : CircleAlert
          return (
            <li key={what} className={shared.rule} data-done={beres}>
              <Icon size={24} className={beres ? styles.good : wajib ? undefined : styles.warn} aria-hidden />
              <span className={shared.ruleText}>
                <span>{teks}</span>
                {!beres && <span className={shared.second}>{wajib ? buka.required : buka.advice}</span>}
              </span>
              <span className="visually-hidden">{beres ? buka.done : buka.missing}</span>
            </li>
          )
        })}
      </ul>
    </section>
  )
}

function Staff({ me, idoutlet }: { me: Me; idoutlet: number }) {
  const client = useQueryClient()
  const staff = useQuery({
    queryKey: shopKeys.staff,
    queryFn: ({ signal }) => getStaff(signal),
    refetchInterval: LOOK_AGAIN_MS,
  })
  const [adding, setAdding] = useState(false)
  return (
    <section className={shared.panel} aria-label={buka.staff}>
      <h2 className={shared.panelTitle}>{buka.staff}</h2>
      <Loaded query={staff}>
        {(data) => {
          const here = data.filter((one) => one.idoutlet === idoutlet && !one.dicabut_at)
          return (
            <>
              {here.length === 0 && <p className={shared.second}>{buka.noStaff}</p>}
              <ul>
                {here.map(({ id, nama, role, pin_awal }) => (
                  <li key={id} className={shared.rule}>
                    <span className={shared.ruleText}>
                      <strong>{nama}</strong>
                      <span className={shared.second}>{roleName(role)}</span>
                    </span>
                    <span className={shared.state} data-state={pin_awal ? 'warn' : 'good'}>
                      {pin_awal ? petugas.firstPin : petugas.ownPin}
                    </span>
                  </li>
                ))}
              </ul>
              {adding && (
                <HireDialog
                  me={me}
                  idoutlet={idoutlet}
                  newest={Math.max(0, ...data.map(({ id }) => id))}
                  onLook={() => void client.invalidateQueries({ queryKey: shopKeys.staff })}
                  onClose={() => setAdding(false)}
                />
              )}
            </>
          )
        }}
      </Loaded>
      <Button variant="secondary" icon={<Plus size={20} aria-hidden />} onClick={() => setAdding(true)}>
        {buka.addStaff}
      </Button>
    </section>
  )
}

function Tablets({ me, idoutlet }: { me: Me; idoutlet: number }) {
  const client = useQueryClient()
  const tills = useQuery({
    queryKey: shopKeys.tills,
    queryFn: ({ signal }) => getTills(signal),
    refetchInterval: LOOK_AGAIN_MS,
  })
  const [open, setOpen] = useState<number | null | undefined>()
  const look = () => void client.invalidateQueries({ queryKey: shopKeys.tills })
  return (
    <section className={shared.panel} aria-label={buka.tablets}>
      <h2 className={shared.panelTitle}>{buka.tablets}</h2>
      <Loaded query={tills}>
        {(data) => {
          const here = data.filter((one) => one.idoutlet === idoutlet && !one.dicabut_at)
          const chosen = here.find(({ id }) => id === open)
          return (
            <>
              {here.length === 0 && <p className={shared.second}>{buka.noTablet}</p>}
              <ul>
                {here.map((one) => (
                  <li key={one.id}>
                    <button type="button" className={shared.line} onClick={() => setOpen(one.id)}>
                      <strong className={shared.ruleText}>{one.nama}</strong>
                      <span className={shared.state} data-state={one.dipasang_at ? 'good' : 'warn'}>
                        {one.dipasang_at ? perangkat.inUse : perangkat.waiting}
                      </span>
                    </button>
                  </li>
                ))}
              </ul>
              {open === null && (
                <InviteDialog
                  me={me}
                  idoutlet={idoutlet}
                  people={null}
                  newest={Math.max(0, ...data.map(({ id }) => id))}
                  onLook={look}
                  onClose={() => setOpen(undefined)}
                />
              )}
              {chosen && (
                <TillDialog key={open} till={chosen} onLook={look} onClose={() => setOpen(undefined)} />
              )}
            </>
          )
        }}
      </Loaded>
      <Button variant="secondary" icon={<Plus size={20} aria-hidden />} onClick={() => setOpen(null)}>
        {buka.addTablet}
      </Button>
    </section>
  )
}
