import { Info, MapPin } from 'lucide-react'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import type { AkunEpay, OutletEpay } from '@/shared/api/model'
import { copy } from '@/shared/copy/copy'
import { paths } from '@/shared/lib/page/paths'
import { formatDate, rupiah } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import { ButtonLink } from '@/shared/ui/button-link'
import { Card } from '@/shared/ui/card'
import { Dialog } from '@/shared/ui/dialog'
import { Empty } from '@/shared/ui/empty'
import { Kawung } from '@/shared/ui/kawung'
import styles from './epay-cards.module.css'

/** The slider of balances, or a note that there are no wallets. */
export function EpayCards({ accounts }: { accounts: AkunEpay[] }) {
  const navigate = useNavigate()
  const [outlet, setOutlet] = useState<OutletEpay | null>(null)
  const [here, setHere] = useState(0)
  if (accounts.length === 0) {
    return (
      <Card className={styles.empty}>
        <Empty
          title={copy.dashboard.noBalance}
          body={copy.dashboard.noBalanceBody}
          action={<Button onClick={() => navigate(paths.topUp)}>{copy.dashboard.addBalance}</Button>}
        />
      </Card>
    )
  }
  return (
    <section aria-label={copy.dashboard.balanceCards}>
      <ul className={styles.slider} onScroll={({ currentTarget }) => setHere(slideInView(currentTarget))}>
        {accounts.map((account) => (
          <li key={account.idcustomer} className={styles.slide}>
            <EpayCard account={account} onInfo={setOutlet} />
          </li>
        ))}
      </ul>
      {accounts.length > 1 && (
        <div className={styles.dots} aria-hidden="true">
          {accounts.map(({ idcustomer }, i) => (
            <span key={idcustomer} className={styles.dot} data-here={i === here || undefined} />
          ))}
        </div>
      )}
      <OutletDialog outlet={outlet} onClose={() => setOutlet(null)} />
    </section>
  )
}

/** Index of the slide that the slider rests on; the last one never reaches the left edge. */
function slideInView({ scrollLeft, scrollWidth, clientWidth, children }: HTMLElement): number {
  const last = children.length - 1
  const whole = scrollWidth - clientWidth
  return whole > 0 ? Math.round((scrollLeft / whole) * last) : 0
}

function EpayCard({ account, onInfo }: { account: AkunEpay; onInfo: (outlet: OutletEpay) => void }) {
  const { outlet, quota_emoney, nama } = account
  return (
    <article className={styles.card}>
      <Kawung />
      <div className={styles.content}>
        <h2 className={`two-lines ${styles.outlet}`}>{outlet?.nama}</h2>
        <p className={`digits ${styles.balance}`} translate="no">
          {rupiah(quota_emoney?.saldo ?? 0)}
        </p>
        <p className={styles.owner}>
          <span className={styles.name}>{nama}</span>
          {outlet && (
            <span>
              <span className="visually-hidden">{copy.dashboard.registered}</span>
              <span aria-hidden>{' · '}</span>
              <span>{copy.dashboard.sinceDate(formatDate(outlet.created_at))}</span>
            </span>
          )}
        </p>
      </div>
      {outlet && (
        <button
          type="button"
          className={styles.info}
          aria-label={copy.dashboard.outletInfo(outlet.nama)}
          onClick={() => onInfo(outlet)}
        >
          <Info size={28} strokeWidth={1.8} aria-hidden />
        </button>
      )}
    </article>
  )
}

function OutletDialog({ outlet, onClose }: { outlet: OutletEpay | null; onClose: () => void }) {
  return (
    <Dialog open={outlet !== null} onClose={onClose} title={outlet?.nama ?? ''}>
      {outlet && (
        <>
          <dl className={styles.rows}>
            <dt>{copy.dashboard.city}</dt>
            <dd>{outlet.kota}</dd>
          </dl>
          <ButtonLink
            href={mapsUrl(outlet)}
            target="_blank"
            rel="noopener noreferrer"
            icon={<MapPin size={20} aria-hidden />}
          >
            {copy.dashboard.seeLocation}
          </ButtonLink>
        </>
      )}
    </Dialog>
  )
}

function mapsUrl({ latitude, longitude }: OutletEpay): string {
  return `https://www.google.com/maps/search/?api=1&query=${encodeURIComponent(`${latitude},${longitude}`)}`
}
