import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { epayQuery } from '@/shared/api/dashboard'
import { type ApiError, asApiError } from '@/shared/api/error'
import { useSend } from '@/shared/api/use-send'
import { copy } from '@/shared/copy/copy'
import { useForm } from '@/shared/lib/form/use-form'
import { missing } from '@/shared/lib/form/validate'
import { rupiah } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import { Dialog, Foot } from '@/shared/ui/dialog'
import forms from '@/shared/ui/form.module.css'
import { PasswordField } from '@/shared/ui/password-field'
import switches from '@/shared/ui/switch.module.css'
import { UsernameInput } from '@/shared/ui/username-input'
import warnings from '@/shared/ui/warning.module.css'
import styles from './akun-page.module.css'
import { deleteAccount } from './calls'
import { dataCopy } from './data-copy'
import { leaveApp } from './leave-app'
import { isPasswordWrong, passwordTexts } from './wrong-password'

/** Deletes the account. It asks for the password, and whoever has a balance has to agree to its loss first. */
export function DeleteDialog({ telp, onClose }: { telp: string; onClose: () => void }) {
  const [password, setPassword] = useState('')
  /** The balance that the customer agreed to give up, rupiah. */
  const [given_up, setGivenUp] = useState(0)
  const [left, correct] = useBalanceLeft()
  const agreed = left === 0 || given_up === left

  const { pending, submit } = useSend({
    send: () => deleteAccount(password, left),
    texts: passwordTexts,
    onDone: () => leaveApp(dataCopy.removed),
    onFailed(failure) {
      const error = asApiError(failure)
      correct(error)
      if (isPasswordWrong(error)) refuse('password')
    },
  })
  const { form, field, refuse } = useForm<'password'>(
    () => missing({ password }, copy.form.fieldEmpty),
    () => submit(),
  )

  return (
    <Dialog open onClose={onClose} title={dataCopy.remove} locked={pending} typed={password !== ''}>
      <form {...form} className={forms.form}>
        <p className={forms.lead}>{dataCopy.removeBody}</p>
        <UsernameInput telp={telp} />
        {left > 0 && (
          <GiveUp
            balance={left}
            agreed={agreed}
            disabled={pending}
            onAgree={(yes) => setGivenUp(yes ? left : 0)}
          />
        )}
        <PasswordField
          {...field('password')}
          label={dataCopy.password}
          autoComplete="current-password"
          value={password}
          disabled={pending}
          onChange={(event) => setPassword(event.target.value)}
        />
        <Foot>
          <Button type="submit" variant="danger" disabled={!agreed} pending={pending}>
            {dataCopy.removeNow}
          </Button>
        </Foot>
      </form>
    </Dialog>
  )
}

/** The balances' sum as the app knows it, until the server names another one in a refusal. */
function useBalanceLeft(): [number, (refusal: ApiError) => void] {
  const { data = [] } = useQuery({ ...epayQuery(), refetchOnMount: 'always' })
  const [named, setNamed] = useState<number | null>(null)
  const sum = data.reduce((total, { quota_emoney }) => total + (quota_emoney?.saldo ?? 0), 0)
  return [
    named ?? sum,
    ({ status, message }) => {
      const [, amount] = /saldo Rp ([\d.]+)/.exec(message) ?? []
      if (status === 409 && amount) setNamed(Number(amount.replace(/\./g, '')))
    },
  ]
}

interface GiveUpProps {
  balance: number
  agreed: boolean
  disabled: boolean
  onAgree: (yes: boolean) => void
}

function GiveUp({ balance, agreed, disabled, onAgree }: GiveUpProps) {
  return (
    <div className={warnings.warning}>
      <p>{dataCopy.giveUpFirst}</p>
      <button
        type="button"
        role="switch"
        aria-checked={agreed}
        className={styles.agree}
        disabled={disabled}
        onClick={() => onAgree(!agreed)}
      >
        <span>{dataCopy.giveUp(rupiah(balance))}</span>
        <span className={switches.track} />
      </button>
    </div>
  )
}
