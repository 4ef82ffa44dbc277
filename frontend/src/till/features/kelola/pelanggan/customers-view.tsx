import { useQuery } from '@tanstack/react-query'
import { Search } from 'lucide-react'
import { useState } from 'react'
import { asApiError } from '@/shared/api/error'
import { useForm } from '@/shared/lib/form/use-form'
import { useSubmit } from '@/shared/lib/form/use-submit'
import { onlyDigits } from '@/shared/lib/text/digits'
import { rupiah, signedRupiah } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import { Empty } from '@/shared/ui/empty'
import { Field } from '@/shared/ui/field'
import { findCustomer } from '@/till/api/calls'
import {
  type Customer,
  type CustomerMove,
  getCustomer,
  getCustomerMoves,
  shopKeys,
} from '@/till/api/shop-calls'
import { useNow } from '@/till/lib/page/clock'
import { reasonOf } from '@/till/lib/page/explain'
import { usePages } from '@/till/lib/page/use-pages'
import { clockThere, dateThere } from '@/till/lib/page/zone-clock'
import { useConnected } from '@/till/lib/session/use-connected'
import { List } from '@/till/ui/list'
import styles from '../kelola.module.css'
import { Loaded } from '../loaded'
import { pelanggan } from './pelanggan-copy'

/** As at the till's counter. */
const SHORTEST = 9
const LONGEST = 15

/** A customer, found by their number: accounts and history in sight. */
export function CustomersView({ zone }: { zone: string }) {
  const [id, setId] = useState<number | null>(null)
  if (id === null) return <Find onFound={setId} />
  return (
    <div className={styles.form}>
      <Button
        variant="secondary"
        className={styles.add}
        icon={<Search size={20} aria-hidden />}
        onClick={() => setId(null)}
      >
        {pelanggan.other}
      </Button>
      <Found id={id} zone={zone} />
    </div>
  )
}

function Find({ onFound }: { onFound: (id: number) => void }) {
  const connected = useConnected()
  const [telp, setTelp] = useState('')
  const [fault, setFault] = useState('')
  const { pending, submit } = useSubmit(async () => {
    setFault('')
    try {
      onFound((await findCustomer({ telp })).id_customer_global)
    } catch (error) {
      setFault(asApiError(error).status === 404 ? pelanggan.notRegistered : reasonOf(error))
    }
  })
  const { form, field } = useForm<'telp'>(
    () => (telp.length < SHORTEST ? { telp: pelanggan.numberWrong } : {}),
    () => submit(),
  )
  return (
    <form {...form} className={styles.panel}>
      <Field
        label={pelanggan.number}
        {...field('telp')}
        hint={pelanggan.numberHint}
        inputMode="tel"
        autoComplete="off"
        value={telp}
        onChange={(event) => setTelp(onlyDigits(event.target.value).slice(0, LONGEST))}
      />
      {fault && (
        <p role="alert" className={styles.fault}>
          {fault}
        </p>
      )}
      <Button
        type="submit"
        icon={<Search size={20} aria-hidden />}
        pending={pending}
        disabled={!connected && !pending}
      >
        {pelanggan.find}
      </Button>
    </form>
  )
}

function Found({ id, zone }: { id: number; zone: string }) {
  const customer = useQuery({
    queryKey: shopKeys.customer(id),
    queryFn: ({ signal }) => getCustomer(id, signal),
    retry: false,
  })
  if (customer.isError && asApiError(customer.error).status === 404)
    return <Empty title={pelanggan.notHere} />
  return (
    <Loaded query={customer}>
      {(data) => (
        <>
          <Accounts customer={data} zone={zone} />
          <Moves id={id} zone={zone} />
        </>
      )}
    </Loaded>
  )
}

function Accounts({ customer: { nama, telp, sejak, akun }, zone }: { customer: Customer; zone: string }) {
  const now = useNow(60_000)
  const validity = (until_ms: number | null) => {
    if (until_ms === null) return pelanggan.forever
    const date = dateThere(until_ms, zone)
    return until_ms < now ? pelanggan.expired(date) : pelanggan.until(date)
  }
  return (
    <section className={styles.panel} aria-labelledby="pelanggan">
      <h2 id="pelanggan" className={styles.panelTitle}>
        {nama}
      </h2>
      <p className={styles.second}>
        <span translate="no">{telp}</span>
        <span>{` · ${pelanggan.since(dateThere(Date.parse(sejak), zone))}`}</span>
      </p>
      <h3 className={styles.label}>{pelanggan.accounts}</h3>
      <ul>
        {akun.map(({ idcustomer, outlet, saldo, masa_aktif }) => (
          <li key={idcustomer} className={styles.rule}>
            <span className={styles.ruleText}>
              <strong>{outlet}</strong>
              <span className={styles.second}>{validity(masa_aktif)}</span>
            </span>
            <strong className="digits">{rupiah(saldo)}</strong>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Moves({ id, zone }: { id: number; zone: string }) {
  const rows = usePages<CustomerMove>(shopKeys.customerMoves(id), (before, signal) =>
    getCustomerMoves(id, before, signal),
  )
  return (
    <section className={styles.panel} aria-labelledby="riwayat">
      <h2 id="riwayat" className={styles.panelTitle}>
        {pelanggan.history}
      </h2>
      <List query={rows} empty={pelanggan.historyNone} keyOf={(row) => String(row.id)}>
        {({ created_at, ref_type, ref_id, outlet, nominal }) => (
          <div className={styles.line}>
            <span className={`digits ${styles.second}`}>{clockThere(Date.parse(created_at), zone)}</span>
            <span className={styles.ruleText}>
              <strong>{pelanggan.kinds[ref_type]}</strong>
              <span className={styles.second}>{`${outlet} · ${ref_id}`}</span>
            </span>
            <strong className="digits">{signedRupiah(nominal)}</strong>
          </div>
        )}
      </List>
    </section>
  )
}
