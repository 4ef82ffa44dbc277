import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { asked } from '@/shared/api/asked'
import { useAccount } from '@/shared/api/use-account'
import { copy } from '@/shared/copy/copy'
import { paths } from '@/shared/lib/page/paths'
import { fullName } from '@/shared/lib/text/name'
import { Button } from '@/shared/ui/button'
import { FailedPart } from '@/shared/ui/failed-part'
import { Page } from '@/shared/ui/page'
import styles from './akun-page.module.css'
import { ClothesLine } from './clothes-line'
import { DataRows } from './data-rows'
import { DeleteDialog } from './delete-dialog'
import { busy, Logout } from './logout'
import { MoveDialogs } from './move-dialogs'
import { NameDialog } from './name-dialog'
import { NumberDialog } from './number-dialog'
import { PasswordDialogs } from './password-dialogs'
import { ProfileCard } from './profile-card'
import { useMove } from './use-move'
import { usePasswordChange } from './use-password-change'

type Opened = 'number' | 'name' | 'delete' | null

export default function AkunPage() {
  const query = useAccount()
  const client = useQueryClient()
  const { data: account } = query
  const { kind, failure } = asked(query, account)
  const [opened, setOpened] = useState<Opened>(null)
  const change = usePasswordChange(account?.telp ?? '')
  const move = useMove(account?.telp ?? '')
  const close = () => setOpened(null)

  return (
    <Page
      title={copy.bar.account}
      back={paths.dashboard}
      backAlways
      bar
      footer={<Logout isBusy={() => busy(client)} />}
    >
      {failure && (
        // Logging out stays possible below this message.
        <FailedPart
          className={styles.failed}
          title={account ? copy.account.updateFailed : copy.account.loadFailed}
          error={failure.error}
        >
          <Button variant="secondary" pending={failure.pending} onClick={failure.onRetry}>
            {copy.common.tryAgain}
          </Button>
        </FailedPart>
      )}
      {kind !== 'failed' && (
        <ProfileCard
          account={account}
          onNumber={() => setOpened('number')}
          onName={() => setOpened('name')}
          onPassword={change.open}
        />
      )}
      <DataRows disabled={!account} onDelete={() => setOpened('delete')} />
      <ClothesLine />
      {account && (
        <>
          <NumberDialog
            open={opened === 'number'}
            account={account}
            onClose={close}
            onMove={() => {
              close()
              move.open()
            }}
          />
          {opened === 'name' && <NameDialog name={fullName(account)} onClose={close} />}
          <PasswordDialogs change={change} />
          <MoveDialogs move={move} />
          {opened === 'delete' && <DeleteDialog telp={account.telp} onClose={close} />}
        </>
      )}
    </Page>
  )
}
