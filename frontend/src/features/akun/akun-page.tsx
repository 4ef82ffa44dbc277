import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { explain } from '@/shared/api/error'
import { keys } from '@/shared/api/keys'
import { useAccount } from '@/shared/api/use-account'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { fullName } from '@/shared/lib/name'
import { Button } from '@/shared/ui/button'
import { Page } from '@/shared/ui/page'
import styles from './akun-page.module.css'
import { Logout } from './logout'
import { NameDialog } from './name-dialog'
import { NumberDialog } from './number-dialog'
import { PasswordDialogs } from './password-dialogs'
import { ProfileCard } from './profile-card'
import { usePasswordChange } from './use-password-change'

type Opened = 'number' | 'name' | null

export default function AkunPage() {
  const account = useAccount()
  const client = useQueryClient()
  const [opened, setOpened] = useState<Opened>(null)
  const change = usePasswordChange(account.data?.telp ?? '')
  const close = () => setOpened(null)

  return (
    <Page title={spec.account} bar>
      {account.error && (
        <Failed
          title={account.data ? added.account.updateFailed : added.account.loadFailed}
          error={account.error}
          pending={account.isFetching}
          onRetry={() => void account.refetch()}
        />
      )}
      {(account.data || !account.error) && (
        <ProfileCard
          account={account.data}
          onNumber={() => setOpened('number')}
          onName={() => setOpened('name')}
          onPassword={change.open}
        />
      )}
      <Logout />
      {account.data && (
        <>
          <NumberDialog open={opened === 'number'} account={account.data} onClose={close} />
          {opened === 'name' && (
            <NameDialog
              name={fullName(account.data)}
              onClose={close}
              onSaved={() => {
                close()
                for (const queryKey of [['account'], keys.dashboard, keys.epay]) {
                  void client.invalidateQueries({ queryKey })
                }
              }}
            />
          )}
          <PasswordDialogs telp={account.data.telp} change={change} />
        </>
      )}
    </Page>
  )
}

/** Logging out stays possible below this. */
function Failed(props: { title: string; error: Error; pending: boolean; onRetry: () => void }) {
  const { title, body } = explain(props.error)
  return (
    <div className={styles.failed} role="alert">
      <p className={styles.failedTitle}>{props.title}</p>
      <p>{body ?? title}</p>
      <Button variant="secondary" pending={props.pending} onClick={props.onRetry}>
        {added.common.tryAgain}
      </Button>
    </div>
  )
}
