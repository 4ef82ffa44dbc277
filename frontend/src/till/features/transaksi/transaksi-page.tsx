import { useState } from 'react'
import { clockTime, rupiah, signedRupiah } from '@/shared/lib/text/format'
import { Empty } from '@/shared/ui/empty'
import { Failed } from '@/shared/ui/failed'
import { Spinner } from '@/shared/ui/spinner'
import { getTopUpPage, getUsePage } from '@/till/api/calls'
import { keys } from '@/till/api/keys'
import type { ListedTopUp, UseRow } from '@/till/api/types'
import { methodName } from '@/till/lib/money/pay-method'
import { paths } from '@/till/lib/page/router'
import { usePages } from '@/till/lib/page/use-pages'
import { mayApprove, useSession } from '@/till/lib/session/session'
import { useDevice } from '@/till/lib/session/use-device'
import { useShift } from '@/till/lib/shift/use-shift'
import { Entry } from '@/till/ui/entry'
import { Link } from '@/till/ui/link'
import { List } from '@/till/ui/list'
import { OpenCalls } from '@/till/ui/open-calls'
import { statusName } from './status-name'
import { TopUpDialog } from './top-up-dialog'
import styles from './transaksi-page.module.css'
import { UseDialog } from './use-dialog'

type Tab = 'topUps' | 'uses'
const TABS: Record<Tab, string> = { topUps: 'Isi saldo', uses: 'Pemakaian' }
const OPEN = ['topup:', 'use:']

/** Top-ups and purchases: of the open shift for a cashier, of the outlet for all higher roles. */
export default function TransactionsPage() {
  const role = useSession(({ session }) => session?.petugas.role)
  const device = useDevice()
  const shift = useShift()
  if (role === undefined) return null
  const failed = [device, shift].find(({ data, isError }) => data === undefined && isError)
  if (failed) {
    return <Failed error={failed.error} pending={failed.isFetching} onRetry={() => void failed.refetch()} />
  }
  if (!device.data || !shift.data) return <Spinner large />
  // In a person's own browser only a supervisor has exactly one outlet, and a cashier has no shift.
  if (!device.data.outlet && role !== 'supervisor') {
    return (
      <Empty
        title="Buka transaksi di tablet outlet"
        body="Perangkat ini milik Anda sendiri, jadi tidak tahu transaksi outlet mana yang ditampilkan."
      />
    )
  }
  if (!mayApprove(role) && shift.data.shift === null) {
    return (
      <Empty
        title="Shift ditutup"
        body="Transaksi tampil selama shift di kasir ini terbuka."
        action={<Link to={paths.shift}>Ke halaman Shift</Link>}
      />
    )
  }
  return <Lists />
}

function Lists() {
  const [tab, setTab] = useState<Tab>('topUps')
  const [topUp, setTopUp] = useState<ListedTopUp | null>(null)
  const [use, setUse] = useState<UseRow | null>(null)
  const topUps = usePages<ListedTopUp>(keys.topUpPages, getTopUpPage)
  const uses = usePages<UseRow>(keys.uses, getUsePage)
  return (
    <>
      {!topUp && !use && <OpenCalls about={OPEN} />}
      <fieldset className={styles.tabs} aria-label="Daftar">
        {(Object.keys(TABS) as Tab[]).map((one) => (
          <button
            key={one}
            type="button"
            className={styles.tab}
            aria-pressed={one === tab}
            onClick={() => setTab(one)}
          >
            {TABS[one]}
          </button>
        ))}
      </fieldset>
      <div className={styles.lists}>
        <section
          className={styles.list}
          data-chosen={tab === 'topUps' || undefined}
          aria-labelledby="isi-saldo"
        >
          <h2 id="isi-saldo" className={styles.heading}>
            {TABS.topUps}
          </h2>
          <List query={topUps} empty="Belum ada isi saldo" keyOf={(row) => row.idpembelian_emoney}>
            {(row) => (
              <Entry
                at={row.created_at}
                name={row.nama}
                how={howPaid(row)}
                amount={row.quota === null ? 'Rp •••' : signedRupiah(row.quota)}
                plus
                gone={row.batal_at !== null}
                onOpen={() => setTopUp(row)}
              />
            )}
          </List>
        </section>
        <section
          className={styles.list}
          data-chosen={tab === 'uses' || undefined}
          aria-labelledby="pemakaian"
        >
          <h2 id="pemakaian" className={styles.heading}>
            {TABS.uses}
          </h2>
          <List
            query={uses}
            empty="Belum ada pemakaian"
            keyOf={(row) => `${row.idtransaksi}:${row.idcustomer}`}
          >
            {(row) => (
              <Entry
                at={row.created_at}
                name={row.nama}
                how={howUsed(row)}
                amount={rupiah(row.grandtotal)}
                gone={row.dihapus_at !== null || row.status === 'gagal'}
                onOpen={() => setUse(row)}
              />
            )}
          </List>
        </section>
      </div>
      <TopUpDialog
        // The list has the changes made since it was opened.
        row={
          topUp && (topUps.rows?.find((one) => one.idpembelian_emoney === topUp.idpembelian_emoney) ?? topUp)
        }
        onClose={() => setTopUp(null)}
      />
      <UseDialog
        row={use && (uses.rows?.find((one) => isSameUse(one, use)) ?? use)}
        onClose={() => setUse(null)}
      />
    </>
  )
}

const isSameUse = (one: UseRow, other: UseRow) =>
  one.idtransaksi === other.idtransaksi && one.idcustomer === other.idcustomer

function howPaid({
  batal_at,
  batal_oleh,
  cara_bayar,
  quota,
  nominal,
  nama_paket,
  petugas,
}: ListedTopUp): string {
  const how = [cara_bayar && methodName(cara_bayar), quota !== nominal && nama_paket].filter(Boolean)
  const gone = batal_at !== null && ['Dibatalkan', batal_oleh, clockTime(batal_at)].filter(Boolean).join(' ')
  return [gone, how.join(', '), petugas].filter(Boolean).join(' · ')
}

function howUsed({ mesin, layanan, status, dikembalikan, dihapus_at }: UseRow): string {
  const end =
    dihapus_at !== null
      ? `Dihapus ${clockTime(dihapus_at)}`
      : dikembalikan > 0
        ? `Dikembalikan ${rupiah(dikembalikan)}`
        : statusName(status)
  return `${end} · ${mesin}, ${layanan}`
}
