import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { asApiError } from '@/shared/api/error'
import { useSubmit } from '@/shared/lib/form/use-submit'
import { clockTime } from '@/shared/lib/text/format'
import { logIn } from '@/till/api/calls'
import { keys } from '@/till/api/keys'
import type { Person } from '@/till/api/types'
import { reasonOf } from '@/till/lib/page/explain'
import { pinMaker } from '@/till/lib/session/role-name'
import { useSession } from '@/till/lib/session/session'
import { ExtraKey } from '@/till/ui/keypad'
import { PinPad } from '@/till/ui/pin-pad'

/** The server's sentence for a first PIN, which only allows making a new one. */
const MAKE_ONE = 'buat PIN baru'

type LogInStep = { is: 'pin' } | { is: 'new'; pin: string } | { is: 'again'; pin: string; chosen: string }

interface PinMessage {
  text: string
  wrong: boolean
}

const NOTHING: PinMessage = { text: '', wrong: false }
const wrong = (text: string): PinMessage => ({ text, wrong: true })
const advice = (text: string): PinMessage => ({ text, wrong: false })

interface Props {
  person: Person | null
  /** Locked, for a while or until a supervisor unlocks it. */
  waits: boolean
}

export function LogIn({ person, waits }: Props) {
  const client = useQueryClient()
  const [step, setStep] = useState<LogInStep>({ is: 'pin' })
  const [pinMessage, setPinMessage] = useState(NOTHING)

  const { pending, submit } = useSubmit(async (typed: string) => {
    if (!person) return
    setPinMessage(NOTHING)
    if (step.is === 'new') return setStep({ is: 'again', pin: step.pin, chosen: typed })
    if (step.is === 'again' && step.chosen !== typed) {
      setStep({ is: 'new', pin: step.pin })
      setPinMessage(wrong('Kedua PIN tidak sama. Buat sekali lagi.'))
      return
    }
    const pins = step.is === 'again' ? { pin: step.pin, pin_baru: typed } : { pin: typed }
    try {
      useSession.getState().begin(await logIn({ idpetugas: person.id, ...pins }))
    } catch (error) {
      refused(error, pins.pin)
    }
  })

  function refused(error: unknown, pin: string) {
    const { status, message, retry_after_ms } = asApiError(error)
    if (status === 409 && message === MAKE_ONE) {
      setStep({ is: 'new', pin })
      setPinMessage(advice('PIN awal Anda benar. Sekarang buat PIN sendiri.'))
      return
    }
    // The new PIN was invalid; the server has not checked the first one.
    if (status === 422 && step.is === 'again') setStep({ is: 'new', pin })
    else setStep({ is: 'pin' })
    if (status === 429 && retry_after_ms !== null) {
      setPinMessage(
        wrong(`Terlalu banyak percobaan. Coba lagi pukul ${clockTime(Date.now() + retry_after_ms)}.`),
      )
    } else setPinMessage(wrong(reasonOf(error)))
    // The list shows who is locked now, and until when.
    if ([401, 403, 429].includes(status)) void client.invalidateQueries({ queryKey: keys.device })
  }

  if (!person) return <PinPad {...NOBODY} />
  const texts = {
    pin: { label: `PIN ${person.nama}`, hint: '6 angka' },
    new: { label: `PIN baru ${person.nama}`, hint: '6 angka yang tidak mudah ditebak' },
    again: { label: 'Ulangi PIN baru', hint: '6 angka yang sama' },
  }[step.is]
  const locked = person.dikunci
    ? 'Petugas dikunci, minta supervisor membukanya.'
    : 'Tunggu sampai kuncinya terbuka.'
  const shown = waits && !pinMessage.text ? wrong(locked) : pinMessage
  return (
    <PinPad
      // Digits of one step must not remain for the next.
      key={step.is}
      {...texts}
      message={shown.text}
      wrong={shown.wrong}
      disabled={waits}
      pending={pending}
      onPin={submit}
      onIndigo
      extra={
        <ExtraKey
          onClick={() =>
            setPinMessage(advice(`Minta ${pinMaker(person.role)} membuat PIN awal baru untuk Anda.`))
          }
        >
          Lupa PIN
        </ExtraKey>
      }
    />
  )
}

const NOBODY = {
  label: 'Masuk',
  hint: 'Pilih nama Anda dulu',
  message: '',
  disabled: true,
  pending: false,
  onPin: () => undefined,
  onIndigo: true,
}
