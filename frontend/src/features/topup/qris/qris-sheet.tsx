import { useState } from 'react'
import type { AkunEpay, QrisOutlet } from '@/shared/api/model'
import { rupiah } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import { Chips } from '@/shared/ui/chips'
import { Dialog, Foot } from '@/shared/ui/dialog'
import { Field } from '@/shared/ui/field'
import type { BillAmount, BillChoice } from './calls'
import { givenOutlet, isLong, ownFirst, shownOutlets } from './outlet-choice'
import styles from './qris.module.css'
import { qris } from './qris-copy'

interface Props {
  outlets: QrisOutlet[]
  /** The customer's wallets, whose outlets come first. */
  accounts: AkunEpay[]
  pending: boolean
  onAsk: (choice: BillChoice) => void
  onClose: () => void
}

/** Chooses what is paid by QRIS: the outlet where there are several, and an amount or a package of it. */
export function QrisSheet({ outlets, accounts, pending, onAsk, onClose }: Props) {
  const [idoutlet, setOutlet] = useState(() => givenOutlet(outlets, accounts))
  const [typed, setTyped] = useState('')
  const [amount, setAmount] = useState<BillAmount | null>(null)
  const outlet = outlets.find((one) => one.idoutlet === idoutlet)
  const price = outlet && amount && priceOf(outlet, amount)

  return (
    <Dialog open onClose={onClose} title={qris.title} locked={pending}>
      <div className={styles.choices}>
        {isLong(outlets) && (
          <Field
            label={qris.search}
            type="search"
            autoComplete="off"
            enterKeyHint="search"
            value={typed}
            disabled={pending}
            onChange={({ target }) => setTyped(target.value)}
          />
        )}
        {outlets.length > 1 && (
          <Chips
            label={qris.outlet}
            options={shownOutlets(ownFirst(outlets, accounts), typed, idoutlet).map(
              ({ idoutlet: value, nama, kota }) => ({ value, text: `${nama}, ${kota}` }),
            )}
            chosen={idoutlet === null ? [] : [idoutlet]}
            disabled={pending}
            onChoose={(next) => {
              setOutlet(next)
              if (amount && 'idpaket' in amount) setAmount(null)
            }}
          />
        )}
        {outlet && (
          <Chips
            label={qris.amount}
            options={outlet.nominal.map((value) => ({ value, text: rupiah(value) }))}
            paired
            chosen={amount && 'nominal' in amount ? [amount.nominal] : []}
            disabled={pending}
            onChoose={(nominal) => setAmount({ nominal })}
          />
        )}
        {outlet && outlet.paket.length > 0 && (
          <Chips
            label={qris.packages}
            options={outlet.paket.map(({ idpaket: value, nama, harga, quota }) => ({
              value,
              text: qris.packageText(nama, rupiah(harga), rupiah(quota)),
            }))}
            chosen={amount && 'idpaket' in amount ? [amount.idpaket] : []}
            disabled={pending}
            onChoose={(idpaket) => setAmount({ idpaket })}
          />
        )}
      </div>
      <Foot>
        <Button
          disabled={!price}
          pending={pending}
          onClick={() => outlet && amount && onAsk({ idoutlet: outlet.idoutlet, ...amount })}
        >
          {price ? qris.showFor(rupiah(price)) : qris.show}
        </Button>
      </Foot>
    </Dialog>
  )
}

function priceOf({ paket }: QrisOutlet, amount: BillAmount): number | undefined {
  if ('nominal' in amount) return amount.nominal
  return paket.find(({ idpaket }) => idpaket === amount.idpaket)?.harga
}
