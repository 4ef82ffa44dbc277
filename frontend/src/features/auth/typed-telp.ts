import { useState } from 'react'
import { PRIVATE_PREFIX, slot } from '@/shared/lib/session/storage'
import { cleanTelp } from '@/shared/lib/text/telp'

/** The number last typed in this tab: the next screen that asks for a number starts with it. Removed with the login. */
const place = slot(
  'session',
  `${PRIVATE_PREFIX}nomor`,
  (value): value is string => typeof value === 'string' && cleanTelp(value) === value,
)

export function useTypedTelp(): [telp: string, setTelp: (telp: string) => void] {
  const [telp, setTelp] = useState(() => place.read() ?? '')
  return [
    telp,
    (next) => {
      place.write(next)
      setTelp(next)
    },
  ]
}
