import { useState } from 'react'
import { isRecord, slot } from '@/shared/lib/session/storage'

export interface KeptForm<F> {
  who: number
  idoutlet: number
  /** Null: something new. */
  id: number | null
  form: F
  /** It was sent by this key, and has no answer. */
  key?: string | undefined
}

export interface FormSlot<F> {
  /** Only for the member of staff who typed it. */
  read: (who: number, idoutlet: number) => KeptForm<F> | null
  write: (draft: KeptForm<F>) => void
  clear: () => void
}

/** A form that was typed and not saved: a lock, which comes after a minute here, or a reload must not lose it. */
export function formSlot<F extends object>(
  name: string,
  valid: (form: Record<string, unknown>) => boolean,
): FormSlot<F> {
  const kept = slot<KeptForm<F>>(
    'session',
    `nyala.kasir.${name}`,
    (value): value is KeptForm<F> =>
      isRecord(value) &&
      typeof value.who === 'number' &&
      typeof value.idoutlet === 'number' &&
      isRecord(value.form) &&
      valid(value.form),
  )
  return {
    read(who, idoutlet) {
      const draft = kept.read()
      return draft?.who === who && draft.idoutlet === idoutlet ? draft : null
    },
    write: (draft) => void kept.write(draft),
    clear: kept.clear,
  }
}

/** The state of a form that is kept from the first edit until it is closed. */
export function useKeptForm<F extends object>(
  slot: FormSlot<F>,
  of: Pick<KeptForm<F>, 'who' | 'idoutlet' | 'id'>,
  initial: F,
) {
  const [draft] = useState(() => {
    const kept = slot.read(of.who, of.idoutlet)
    return kept?.id === of.id ? kept : null
  })
  const [form, setForm] = useState(draft?.form ?? initial)
  return {
    form,
    edit(part: Partial<F>) {
      const next = { ...form, ...part }
      setForm(next)
      slot.write({ ...of, form: next })
    },
    /** For `useSave`. */
    openKey: draft?.key,
    onKey: (key: string | undefined) => slot.write({ ...of, form, key }),
  }
}
