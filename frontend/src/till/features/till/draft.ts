import { create } from 'zustand'
import type { FoundCustomer, Package, PayMethod } from '@/till/api/types'

export type Choice = { is: 'amount'; nominal: number } | { is: 'package'; package: Package }

interface Draft {
  customer: FoundCustomer | null
  /** Epoch ms. */
  found_at: number
  /** The number as it was typed; null for a scanned code. WhatsApp needs it. */
  typed: string | null
  choice: Choice | null
  method: PayMethod
  /** Whoever has sent it, whatever became of that. */
  sent_by: number | null
}

const EMPTY: Draft = {
  customer: null,
  found_at: 0,
  typed: null,
  choice: null,
  method: 'tunai',
  sent_by: null,
}

/** Who is topped up and with what. It lives through a lock: nobody is scanned twice for a PIN. */
export const useDraft = create<Draft>(() => EMPTY)

export const draft = {
  begin: (customer: FoundCustomer, typed: string | null) =>
    useDraft.setState({ ...EMPTY, customer, typed, found_at: Date.now() }),
  choose: (choice: Choice | null) => useDraft.setState({ choice }),
  pay: (method: PayMethod) => useDraft.setState({ method }),
  sent: (who: number) => useDraft.setState({ sent_by: who }),
  /** Somebody logged in: what another has sent is not theirs to send once more. */
  enter(who: number): void {
    const { sent_by } = useDraft.getState()
    if (sent_by !== null && sent_by !== who) draft.clear()
  },
  clear: () => useDraft.setState(EMPTY),
}

/** What the customer pays, and what the balance gains. */
export const paid = (choice: Choice) => (choice.is === 'package' ? choice.package.harga : choice.nominal)
export const gained = (choice: Choice) => (choice.is === 'package' ? choice.package.quota : choice.nominal)

export const firstName = (nama: string) => nama.split(' ')[0] ?? nama
