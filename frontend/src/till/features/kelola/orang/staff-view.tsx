import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { Button } from '@/shared/ui/button'
import { Empty } from '@/shared/ui/empty'
import { keys } from '@/till/api/keys'
import { getStaff, type StaffRow, shopKeys } from '@/till/api/shop-calls'
import type { Me } from '@/till/api/types'
import { roleName } from '@/till/lib/session/role-name'
import styles from '../kelola.module.css'
import { Loaded } from '../loaded'
import { petugas } from './orang-copy'
import { HireDialog, PersonDialog } from './staff-dialogs'

/** The staff of an outlet whom the viewer may hire and dismiss; who is gone folded away below. */
export function StaffView({ me, idoutlet }: { me: Me; idoutlet: number }) {
  const client = useQueryClient()
  const staff = useQuery({ queryKey: shopKeys.staff, queryFn: ({ signal }) => getStaff(signal) })
  const [open, setOpen] = useState<number | null | undefined>()
  const look = () => {
    for (const queryKey of [shopKeys.staff, keys.device]) void client.invalidateQueries({ queryKey })
  }
  return (
    <Loaded query={staff}>
      {(data) => {
        const here = data.filter((one) => one.idoutlet === idoutlet)
        const working = here.filter(({ dicabut_at }) => !dicabut_at)
        const gone = here.filter(({ dicabut_at }) => dicabut_at)
        const person = working.find(({ id }) => id === open)
        return (
          <>
            <Button
              variant="secondary"
              className={styles.add}
              icon={<Plus size={20} aria-hidden />}
              onClick={() => setOpen(null)}
            >
              {petugas.add}
            </Button>
            {working.length === 0 && <Empty title={petugas.none} body={petugas.noneBody} />}
            <ul className={styles.cards}>
              {working.map((one) => (
                <li key={one.id}>
                  <button type="button" className={styles.card} onClick={() => setOpen(one.id)}>
                    <Card person={one} />
                  </button>
                </li>
              ))}
            </ul>
            {gone.length > 0 && (
              <details className={styles.retired}>
                <summary>{petugas.ended(gone.length)}</summary>
                <ul>
                  {gone.map((one) => (
                    <li key={one.id} className={styles.retiredRow}>
                      <span className={styles.ruleText}>{`${one.nama}, ${roleName(one.role)}`}</span>
                    </li>
                  ))}
                </ul>
              </details>
            )}
            {open === null && (
              <HireDialog
                me={me}
                idoutlet={idoutlet}
                newest={Math.max(0, ...data.map(({ id }) => id))}
                onLook={look}
                onClose={() => setOpen(undefined)}
              />
            )}
            {person && (
              <PersonDialog key={open} person={person} onLook={look} onClose={() => setOpen(undefined)} />
            )}
          </>
        )
      }}
    </Loaded>
  )
}

function Card({ person: { nama, role, pin_awal, dikunci } }: { person: StaffRow }) {
  const [look, text] = dikunci
    ? ['bad', petugas.locked]
    : pin_awal
      ? ['warn', petugas.firstPin]
      : ['good', petugas.ownPin]
  return (
    <span className={styles.cardHead}>
      <span className={styles.cardName}>
        <strong>{nama}</strong>
        <span className={styles.second}>{roleName(role)}</span>
      </span>
      <span className={styles.state} data-state={look}>
        {text}
      </span>
    </span>
  )
}
