import type { Elements } from '@/shared/ui/elements'
import styles from './running-card.module.css'

interface Props {
  /** Names. */
  machine: string
  service: string
  outlet: string
  /** Target of the flight from the receipt after a payment. */
  idmesin?: number
  /** A single card fills the width; several form two columns. */
  alone: boolean
  /** The colour of the lamp on the machine's panel. */
  lamp: 'running' | 'last' | 'waiting' | 'done'
  porthole: Elements
  /** The end of the cycle, or what the card waits for. */
  when: string | null
  /** Shown below the names of machine, service and outlet. */
  children?: Elements
  /** Shown at the bottom, across the whole width. */
  foot?: Elements
}

/** The front of the machine: a panel with its name and lamp, and the porthole below it. */
export function MachineFront(props: Props) {
  const { machine, service, outlet, idmesin, alone, lamp, porthole, when, children, foot } = props
  const inPanel = alone && lamp !== 'waiting'
  return (
    <div className={styles.card} data-lamp={lamp} data-alone={alone || undefined}>
      <header className={styles.panel}>
        <p className={`two-lines ${styles.machine}`}>{machine}</p>
        <span className={styles.lamp}>{inPanel ? when : null}</span>
      </header>
      <div className={styles.front}>
        <div className={styles.door} data-machine={idmesin}>
          {porthole}
        </div>
        {!inPanel && when && <p className={`digits ${styles.when}`}>{when}</p>}
        <h3 className={styles.service}>{service}</h3>
        <p className={styles.outlet}>{outlet}</p>
        {children}
      </div>
      {foot && <div className={styles.foot}>{foot}</div>}
    </div>
  )
}
