import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { useSubmit } from '@/shared/lib/form/use-submit'
import { rupiah } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import { Empty } from '@/shared/ui/empty'
import { keys } from '@/till/api/keys'
import { changePackage, getAllPackages, shopKeys } from '@/till/api/shop-calls'
import type { Me, Package } from '@/till/api/types'
import { reasonOf } from '@/till/lib/page/explain'
import { notify } from '@/till/lib/page/notices'
import styles from '../kelola.module.css'
import { Loaded } from '../loaded'
import { PackageDialog } from './package-dialog'
import { packageDraft } from './package-form'
import { paket } from './paket-copy'

/** The packages of an outlet, cheapest first; what is no longer sold folded away below. */
export function PackagesView({ me, idoutlet }: { me: Me; idoutlet: number }) {
  const packages = useQuery({ queryKey: shopKeys.packages, queryFn: ({ signal }) => getAllPackages(signal) })
  // A form that a lock or a reload interrupted is open again.
  const [open, setOpen] = useState<number | null | undefined>(() => packageDraft.read(me.id, idoutlet)?.id)
  const may = (right: string) => me.hak.includes(right)
  return (
    <Loaded query={packages}>
      {(data) => {
        const here = data.filter((one) => one.idoutlet === idoutlet).sort((a, b) => a.harga - b.harga)
        const sold = here.filter(({ aktif }) => aktif)
        const retired = here.filter(({ aktif }) => !aktif)
        const chosen = open == null ? null : here.find(({ idpaket }) => idpaket === open)
        return (
          <>
            {may('paket.buat') && (
              <Button
                variant="secondary"
                className={styles.add}
                icon={<Plus size={20} aria-hidden />}
                onClick={() => setOpen(null)}
              >
                {paket.add}
              </Button>
            )}
            {sold.length === 0 && <Empty title={paket.none} body={paket.noneBody} />}
            <ul className={styles.cards}>
              {sold.map((one) => (
                <li key={one.idpaket}>
                  <button
                    type="button"
                    className={styles.card}
                    disabled={!may('paket.ubah')}
                    onClick={() => setOpen(one.idpaket)}
                  >
                    <Card one={one} />
                  </button>
                </li>
              ))}
            </ul>
            {retired.length > 0 && (
              <details className={styles.retired}>
                <summary>{paket.retired(retired.length)}</summary>
                <ul>
                  {retired.map((one) => (
                    <li key={one.idpaket} className={styles.retiredRow}>
                      <span className={styles.ruleText}>{`${one.nama}, ${rupiah(one.harga)}`}</span>
                      {may('paket.ubah') && <SellAgain one={one} />}
                    </li>
                  ))}
                </ul>
              </details>
            )}
            {open !== undefined && chosen !== undefined && (
              <PackageDialog
                key={open}
                who={me.id}
                idoutlet={idoutlet}
                one={chosen}
                newest={Math.max(0, ...data.map(({ idpaket }) => idpaket))}
                onClose={() => setOpen(undefined)}
              />
            )}
          </>
        )
      }}
    </Loaded>
  )
}

function Card({ one: { nama, harga, quota, berlaku_hari } }: { one: Package }) {
  const bonus = quota > harga ? `, ${paket.bonus(rupiah(quota - harga))}` : ''
  return (
    <>
      <span className={styles.cardHead}>
        <strong className={styles.cardName}>{nama}</strong>
        <strong className="digits">{rupiah(harga)}</strong>
      </span>
      <span className={styles.second}>
        {`${paket.balance(rupiah(quota))}${bonus}, ${berlaku_hari ? paket.valid(berlaku_hari) : paket.forever}`}
      </span>
    </>
  )
}

function SellAgain({ one: { idpaket, nama } }: { one: Package }) {
  const client = useQueryClient()
  const { pending, submit } = useSubmit(
    async () => {
      await changePackage(idpaket, { aktif: true })
      notify.info(paket.soldAgain(nama))
      for (const queryKey of [shopKeys.packages, keys.packages]) void client.invalidateQueries({ queryKey })
    },
    (error) => notify.failure(reasonOf(error)),
  )
  return (
    <Button
      variant="quiet"
      className={styles.small}
      pending={pending}
      aria-label={paket.sellAgainOf(nama)}
      onClick={() => submit()}
    >
      {paket.sellAgain}
    </Button>
  )
}
