import { create } from 'zustand'
import type { CustomerRef, FoundCustomer, Package, PayMethod } from '@/till/api/types'
import type { KeptBill } from '@/till/lib/money/bills'

export type Choice = { is: 'amount'; nominal: number } | { is: 'package'; package: Package }

interface SaleDraft {
  customer: FoundCustomer | null
  /** Epoch ms. */
  found_at: number
  /** The typed number; null for a scanned code. WhatsApp needs it. */
  typed: string | null
  /** The scanned code; null for a typed number. Only with it can money leave the account. */
  qr: string | null
  choice: Choice | null
  method: PayMethod
  /** The member of staff who has sent it, whatever its outcome. */
  sent_by: number | null
  /** The QRIS bill on the screen; `new` while it is made. */
  bill: KeptBill | 'new' | null
}

const EMPTY: SaleDraft = {
  customer: null,
  found_at: 0,
  typed: null,
  qr: null,
  choice: null,
  method: 'tunai',
  sent_by: null,
  bill: null,
}

/** The customer and the chosen top-up. It survives a lock, so that a PIN does not require a second scan. */
export const useDraft = create<SaleDraft>(() => EMPTY)

export const draft = {
  begin: (customer: FoundCustomer, ref: CustomerRef) =>
    useDraft.setState({
      ...EMPTY,
      customer,
      typed: 'telp' in ref ? ref.telp : null,
      qr: 'qr' in ref ? ref.qr : null,
      found_at: Date.now(),
    }),
  choose: (choice: Choice | null) => useDraft.setState({ choice }),
  pay: (method: PayMethod) => useDraft.setState({ method }),
  sent: (who: number) => useDraft.setState({ sent_by: who }),
  show: (bill: SaleDraft['bill']) => useDraft.setState({ bill }),
  /** A member of staff has logged in: they must not send another one's top-up again. */
  enter(who: number): void {
    const { sent_by } = useDraft.getState()
    if (sent_by !== null && sent_by !== who) draft.clear()
  },
  clear: () => useDraft.setState(EMPTY),
}

/** The bill on the screen, once it is made. */
export const shownBill = ({ bill }: SaleDraft): KeptBill | null => (bill === 'new' ? null : bill)

/** The price that the customer pays, and the amount that the balance gains. */
export const paid = (choice: Choice) => (choice.is === 'package' ? choice.package.harga : choice.nominal)
export const gained = (choice: Choice) => (choice.is === 'package' ? choice.package.quota : choice.nominal)

export const firstName = (nama: string) => nama.split(' ')[0] ?? nama
