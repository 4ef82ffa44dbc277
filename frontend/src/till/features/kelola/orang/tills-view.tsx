import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { moment } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import { Empty } from '@/shared/ui/empty'
import { getStaff, getTills, shopKeys, type TillRow } from '@/till/api/shop-calls'
import type { Me } from '@/till/api/types'
import styles from '../kelola.module.css'
import { Loaded } from '../loaded'
import { perangkat } from './orang-copy'
import { InviteDialog, TillDialog } from './till-dialogs'

/** The code of a browser is used elsewhere. */
const LOOK_AGAIN_MS = 10_000

/** The browsers of an outlet; for an owner those of people, too. What is revoked is folded away below. */
export function TillsView({ me, idoutlet }: { me: Me; idoutlet: number }) {
  const client = useQueryClient()
  const tills = useQuery({
    queryKey: shopKeys.tills,
    queryFn: ({ signal }) => getTills(signal),
    refetchInterval: LOOK_AGAIN_MS,
  })
  const staff = useQuery({
    queryKey: shopKeys.staff,
    queryFn: ({ signal }) => getStaff(signal),
    enabled: me.hak.includes('petugas.kelola'),
  })
  const [open, setOpen] = useState<number | null | undefined>()
  const look = () => client.invalidateQueries({ queryKey: shopKeys.tills })
  const people = (staff.data ?? []).filter((one) => one.idoutlet === idoutlet && !one.dicabut_at)
  const nameOf = (id: number) =>
    id === me.id ? me.nama : (staff.data?.find((one) => one.id === id)?.nama ?? null)
  const ownerOf = ({ idpetugas }: TillRow) => {
    if (idpetugas == null) return perangkat.tablet
    const name = nameOf(idpetugas)
    return name === null ? perangkat.someone : perangkat.ownedBy(name)
  }
  return (
    <Loaded query={tills}>
      {(data) => {
        const here = data.filter(
          (one) =>
            one.idoutlet === idoutlet ||
            one.idpetugas === me.id ||
            people.some(({ id }) => id === one.idpetugas),
        )
        const used = here.filter(({ dicabut_at }) => !dicabut_at)
        const revoked = here.filter(({ dicabut_at }) => dicabut_at)
        const till = here.find(({ id }) => id === open)
        return (
          <>
            <Button
              variant="secondary"
              className={styles.add}
              icon={<Plus size={20} aria-hidden />}
              onClick={() => setOpen(null)}
            >
              {perangkat.add}
            </Button>
            {used.length === 0 && <Empty title={perangkat.none} body={perangkat.noneBody} />}
            <ul className={styles.cards}>
              {used.map((one) => (
                <li key={one.id}>
                  <button type="button" className={styles.card} onClick={() => setOpen(one.id)}>
                    <span className={styles.cardHead}>
                      <span className={styles.cardName}>
                        <strong>{one.nama}</strong>
                        <span className={styles.second}>{ownerOf(one)}</span>
                      </span>
                      <span className={styles.state} data-state={one.dipasang_at ? 'good' : 'warn'}>
                        {one.dipasang_at
                          ? perangkat.paired(moment(Date.parse(one.dipasang_at)))
                          : perangkat.waiting}
                      </span>
                    </span>
                  </button>
                </li>
              ))}
            </ul>
            {revoked.length > 0 && (
              <details className={styles.retired}>
                <summary>{perangkat.ended(revoked.length)}</summary>
                <ul className={styles.cards}>
                  {revoked.map((one) => (
                    <li key={one.id}>
                      <button type="button" className={styles.card} onClick={() => setOpen(one.id)}>
                        <strong>{one.nama}</strong>
                        <span className={styles.second}>{ownerOf(one)}</span>
                      </button>
                    </li>
                  ))}
                </ul>
              </details>
            )}
            {open === null && (
              <InviteDialog
                me={me}
                idoutlet={idoutlet}
                people={me.hak.includes('outlet.ubah') ? people : null}
                newest={Math.max(0, ...data.map(({ id }) => id))}
                onLook={look}
                onClose={() => setOpen(undefined)}
              />
            )}
            {till && <TillDialog key={open} till={till} onLook={look} onClose={() => setOpen(undefined)} />}
          </>
        )
      }}
    </Loaded>
  )
}
