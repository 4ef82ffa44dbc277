import type { Elements } from '@/shared/ui/elements'
import styles from './running-card.module.css'

interface Props {
  /** Names. */
  machine: string
  service: string
  outlet: string
  /** Where one that has just been paid flies to. */
  idmesin?: number
  /** The only one fills the width; several make a wall of two columns. */
  alone: boolean
  /** The colour of the lamp on the machine's panel. */
  lamp: 'running' | 'last' | 'waiting' | 'done'
  porthole: Elements
  /** When it ends, or what is awaited. */
  when: string | null
  /** Below what it is about. */
  children?: Elements
  /** Below everything, across the whole width. */
  foot?: Elements
}

/** The machine as it stands there: panel with its name and lamp, below it the door. */
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
