import type { LeftInMachine } from '@/shared/api/model'
import { copy } from '@/shared/copy/copy'
import { later } from '@/shared/copy/later'
import { clockTime } from '@/shared/lib/text/format'
import { Porthole } from '@/shared/ui/porthole'
import { FetchedButton } from './fetched-button'
import { MachineFront } from './machine-front'
import styles from './running-card.module.css'

/** An ended cycle with the laundry still in its machine. */
export function LeftCard({ use, alone }: { use: LeftInMachine; alone: boolean }) {
  return (
    <MachineFront
      machine={use.mesin}
      service={use.layanan}
      outlet={use.outlet}
      alone={alone}
      lamp="done"
      porthole={<Porthole size={alone ? 'hero' : 'pair'} state="finished" />}
      when={copy.dashboard.since(clockTime(use.finished_at))}
    >
      {use.kendala === 'tidak_jalan' && <p className={`${styles.note} ${styles.urge}`}>{later.neverRan}</p>}
      <FetchedButton id={use.id} />
    </MachineFront>
  )
}
