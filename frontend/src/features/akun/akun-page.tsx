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
import { NamaDialog } from './nama-dialog'
import { NomorDialog } from './nomor-dialog'
import { ProfileCard } from './profile-card'
import { SandiDialogs } from './sandi-dialogs'
import { useSandi } from './use-sandi'

type Opened = 'nomor' | 'nama' | null

export default function AkunPage() {
  const akun = useAccount()
  const client = useQueryClient()
  const [opened, setOpened] = useState<Opened>(null)
  const sandi = useSandi(akun.data?.telp ?? '')
  const close = () => setOpened(null)

  return (
    <Page title={spec.account} bar>
      {akun.error && (
        <Failed
          title={akun.data ? added.account.updateFailed : added.account.loadFailed}
          error={akun.error}
          pending={akun.isFetching}
          onRetry={() => void akun.refetch()}
        />
      )}
      {(akun.data || !akun.error) && (
        <ProfileCard
          akun={akun.data}
          onNomor={() => setOpened('nomor')}
          onNama={() => setOpened('nama')}
          onSandi={sandi.open}
        />
      )}
      <Logout />
      {akun.data && (
        <>
          <NomorDialog open={opened === 'nomor'} akun={akun.data} onClose={close} />
          {opened === 'nama' && (
            <NamaDialog
              nama={fullName(akun.data)}
              onClose={close}
              onSaved={() => {
                close()
                for (const queryKey of [['account'], keys.dashboard, keys.epay]) {
                  void client.invalidateQueries({ queryKey })
                }
              }}
            />
          )}
          <SandiDialogs telp={akun.data.telp} sandi={sandi} />
        </>
      )}
    </Page>
  )
}

/** Logging out stays possible below this. */
function Failed(props: { title: string; error: Error; pending: boolean; onRetry: () => void }) {
  const { title: judul, body: isi } = explain(props.error)
  return (
    <div className={styles.failed} role="alert">
      <p className={styles.failedTitle}>{props.title}</p>
      <p>{isi ?? judul}</p>
      <Button variant="secondary" pending={props.pending} onClick={props.onRetry}>
        {added.common.tryAgain}
      </Button>
    </div>
  )
}
