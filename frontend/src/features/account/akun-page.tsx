import { useState } from 'react'
import { asked, type Failure } from '@/shared/api/asked'
import { explain } from '@/shared/api/error'
import { useAccount } from '@/shared/api/use-account'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { fullName } from '@/shared/lib/name'
import { paths } from '@/shared/lib/paths'
import { Button } from '@/shared/ui/button'
import { Page } from '@/shared/ui/page'
import styles from './akun-page.module.css'
import { ClothesLine } from './clothes-line'
import { Logout } from './logout'
import { NameDialog } from './name-dialog'
import { NumberDialog } from './number-dialog'
import { PasswordDialogs } from './password-dialogs'
import { ProfileCard } from './profile-card'
import { usePasswordChange } from './use-password-change'

type Opened = 'number' | 'name' | null

export default function AkunPage() {
  const query = useAccount()
  const { data: account } = query
  const { kind, failure } = asked(query, account)
  const [opened, setOpened] = useState<Opened>(null)
  const change = usePasswordChange(account?.telp ?? '')
  const close = () => setOpened(null)

  return (
    <Page title={spec.account} back={paths.dashboard} backAlways bar footer={<Logout />}>
      {failure && (
        <Failed title={account ? added.account.updateFailed : added.account.loadFailed} {...failure} />
      )}
      {kind !== 'failed' && (
        <ProfileCard
          account={account}
          onNumber={() => setOpened('number')}
          onName={() => setOpened('name')}
          onPassword={change.open}
        />
      )}
      <ClothesLine />
      {account && (
        <>
          <NumberDialog open={opened === 'number'} account={account} onClose={close} />
          {opened === 'name' && <NameDialog name={fullName(account)} onClose={close} />}
          <PasswordDialogs change={change} />
        </>
      )}
    </Page>
  )
}

/** Logging out stays possible below this. */
function Failed(props: Failure & { title: string }) {
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
