import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useEffect, useEffectEvent, useRef, useState } from 'react'
import { useSubmit } from '@/shared/lib/form/use-submit'
import { asciiDigits } from '@/shared/lib/text/digits'
import { Button } from '@/shared/ui/button'
import { Field } from '@/shared/ui/field'
import { pair } from '@/till/api/calls'
import { keys } from '@/till/api/keys'
import { reasonOf } from '@/till/lib/page/explain'
import { hrefOf, navigate, paths } from '@/till/lib/page/router'
import { useSession } from '@/till/lib/session/session'
import styles from './pasang-page.module.css'

const LENGTH = 8
/** Letters and digits; the server ignores case and blanks. */
const clean = (typed: string) =>
  asciiDigits(typed)
    .toUpperCase()
    .replace(/[^0-9A-Z]/g, '')
    .slice(0, LENGTH)

/** Pairs this browser with an outlet by a code. */
export default function PairPage() {
  const client = useQueryClient()
  const [code, setCode] = useState(() => clean(window.location.hash))
  const [fault, setFault] = useState('')
  const revoked = useSession(({ ended }) => ended !== null)

  const { pending, submit } = useSubmit(async (kode: string) => {
    try {
      await pair(kode)
    } catch (error) {
      setFault(reasonOf(error))
      return
    }
    client.removeQueries({ queryKey: keys.device })
    const session = useSession.getState()
    session.end()
    session.pair()
    navigate(paths.logIn, { replace: true })
  })

  // A code in the address is valid once: it is removed from the address bar, and sent without a touch.
  const ofAddress = useRef(window.location.hash !== '' && code.length === LENGTH ? code : null)
  const sendCode = useEffectEvent(() => {
    const kode = ofAddress.current
    ofAddress.current = null
    if (kode) submit(kode)
  })
  useEffect(() => {
    document.title = 'Pasang perangkat · Kasir Nyala'
    window.history.replaceState(window.history.state, '', hrefOf(paths.pair))
    sendCode()
    // Another link, followed while this page is open, changes only the hash, so the page must reload.
    const begin = () => window.location.reload()
    window.addEventListener('hashchange', begin)
    return () => window.removeEventListener('hashchange', begin)
  }, [])

  function onSubmit(event: FormEvent) {
    event.preventDefault()
    if (code.length === LENGTH) submit(code)
    else setFault('Kode terdiri dari 8 huruf dan angka')
  }

  return (
    <main className={styles.page}>
      <form className={styles.card} onSubmit={onSubmit} noValidate>
        <h1 className={styles.title}>Pasang perangkat kasir</h1>
        {revoked && (
          <p role="status" className={styles.revoked}>
            Perangkat ini sudah dicabut. Untuk memakainya lagi perlu kode baru.
          </p>
        )}
        <p className={styles.lead}>
          Minta kode pasang ke supervisor. Kode berlaku 10 menit dan hanya sekali.
        </p>
        <Field
          label="Kode pasang"
          name="kode"
          value={code}
          onChange={(event) => {
            setFault('')
            // A removed character changes no state, so React would not take it out of the field.
            event.target.value = clean(event.target.value)
            setCode(event.target.value)
          }}
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          className={styles.code}
          {...(fault ? { invalid: true, fault, faultId: 'kode-fault' } : {})}
        />
        <Button type="submit" pending={pending}>
          Pasang
        </Button>
      </form>
    </main>
  )
}
