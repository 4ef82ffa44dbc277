import { useQuery } from '@tanstack/react-query'
import { Printer } from 'lucide-react'
import { useState } from 'react'
import { flushSync } from 'react-dom'
import type { Schemas } from '@/shared/api/model'
import { useSubmit } from '@/shared/lib/form/use-submit'
import { Button } from '@/shared/ui/button'
import { Dialog } from '@/shared/ui/dialog'
import { Empty } from '@/shared/ui/empty'
import {
  getMachines,
  getStickers,
  renewalOf,
  STICKERS_A_PAGE,
  type Sticker,
  shopKeys,
} from '@/till/api/shop-calls'
import type { Me, Tile } from '@/till/api/types'
import { useMoney } from '@/till/lib/money/use-money'
import { reasonOf } from '@/till/lib/page/explain'
import { notify } from '@/till/lib/page/notices'
import { printOnA4 } from '@/till/lib/page/print'
import { useConnected } from '@/till/lib/session/use-connected'
import { Decide } from '@/till/ui/decide'
import { OpenCalls } from '@/till/ui/open-calls'
import styles from '../kelola.module.css'
import { Loaded } from '../loaded'
import { Sheets } from './sheets'
import { stiker } from './stiker-copy'

/** The subject of a sticker's calls, for `useMoney`. */
const SUBJECT = 'stiker:'

/** The machines' stickers: printed together on A4, and renewed one by one. */
export function StickersView({ me, idoutlet }: { me: Me; idoutlet: number }) {
  const machines = useQuery({
    queryKey: shopKeys.machines(idoutlet),
    queryFn: ({ signal }) => getMachines(idoutlet, signal),
  })
  const [left, setLeft] = useState<readonly number[]>([])
  const [renewing, setRenewing] = useState<Tile | null>(null)
  return (
    <Loaded query={machines}>
      {(data) => {
        if (data.length === 0) return <Empty title={stiker.none} body={stiker.noneBody} />
        const chosen = data.map(({ id }) => id).filter((id) => !left.includes(id))
        return (
          <div className={styles.form}>
            {!renewing && <OpenCalls about={[SUBJECT]} />}
            <p className={styles.second}>{stiker.how}</p>
            <div className={styles.tools}>
              <Print ids={chosen} />
              <Button
                variant="secondary"
                onClick={() => setLeft(chosen.length === 0 ? [] : data.map(({ id }) => id))}
              >
                {chosen.length === 0 ? stiker.all : stiker.allNone}
              </Button>
            </div>
            <fieldset className={styles.fields}>
              <legend className={styles.label}>{stiker.choose}</legend>
              <ul>
                {data.map((one) => (
                  <li key={one.id} className={styles.rule}>
                    <label className={styles.check}>
                      <input
                        type="checkbox"
                        checked={chosen.includes(one.id)}
                        onChange={({ target }) =>
                          setLeft(target.checked ? left.filter((id) => id !== one.id) : [...left, one.id])
                        }
                      />
                      <span className={styles.ruleText}>{one.nama}</span>
                    </label>
                    {me.hak.includes('mesin.stiker') && (
                      <Button
                        variant="quiet"
                        className={styles.small}
                        aria-label={stiker.renewOf(one.nama)}
                        onClick={() => setRenewing(one)}
                      >
                        {stiker.renew}
                      </Button>
                    )}
                  </li>
                ))}
              </ul>
            </fieldset>
            {renewing && (
              <RenewDialog
                machine={renewing}
                onClose={() => setRenewing(null)}
                onDone={() => {
                  // The new one alone is to be printed.
                  setLeft(data.map(({ id }) => id).filter((id) => id !== renewing.id))
                  setRenewing(null)
                }}
              />
            )}
          </div>
        )
      }}
    </Loaded>
  )
}

/** Fetches the stickers of these machines, and prints them. */
export function Print({ ids }: { ids: readonly number[] }) {
  const connected = useConnected()
  const [stickers, setStickers] = useState<readonly Sticker[]>([])
  const { pending, submit } = useSubmit(
    async () => {
      const found: Sticker[] = []
      for (let i = 0; i < ids.length; i += STICKERS_A_PAGE)
        found.push(...(await getStickers(ids.slice(i, i + STICKERS_A_PAGE))))
      flushSync(() => setStickers(found))
      // A page is printed as it is at that moment: a picture that is not decoded is missing.
      await Promise.all(
        Array.from(document.querySelectorAll<HTMLImageElement>('[data-sticker]'), (img) => img.decode()),
      )
      printOnA4()
    },
    (error) => notify.failure(reasonOf(error)),
  )
  return (
    <>
      <Button
        icon={<Printer size={20} aria-hidden />}
        pending={pending}
        disabled={(ids.length === 0 || !connected) && !pending}
        onClick={submit}
      >
        {ids.length === 0
          ? stiker.printNone
          : stiker.print(ids.length, Math.ceil(ids.length / STICKERS_A_PAGE))}
      </Button>
      {stickers.length > 0 && <Sheets stickers={stickers} />}
    </>
  )
}

interface RenewProps {
  machine: Tile
  onClose: () => void
  onDone: () => void
}

/** Gives a machine another sticker, with a reason. */
function RenewDialog({ machine: { id, nama }, onClose, onDone }: RenewProps) {
  const money = useMoney<Schemas['Stiker']>(`${SUBJECT}${id}`, {
    onDone() {
      notify.info(stiker.renewed(nama))
      onDone()
    },
  })
  return (
    <Dialog open onClose={onClose} title={stiker.renewOf(nama)} locked={money.pending}>
      <Decide
        money={money}
        what={stiker.renewWhat(nama)}
        reasons={stiker.reasons}
        label={stiker.renew}
        danger
        approval={null}
        request={(alasan) => renewalOf(id, alasan)}
      />
    </Dialog>
  )
}
