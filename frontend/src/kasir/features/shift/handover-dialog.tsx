import { useState } from 'react'
import { roleName } from '@/kasir/lib/role-name'
import { useDevice } from '@/kasir/lib/use-device'
import { PinPad } from '@/kasir/ui/pin-pad'
import { View } from '@/kasir/ui/view'
import { rupiah } from '@/shared/lib/format'
import { Dialog } from '@/shared/ui/dialog'
import styles from './handover-dialog.module.css'

interface Props {
  open: boolean
  /** Whoever goes. */
  who: number
  sum: number
  pending: boolean
  fault: string
  onClose: () => void
  onPin: (idpetugas: number, name: string, pin: string) => void
}

/** Who takes over what was counted, and their PIN. */
export function HandoverDialog({ open, onClose, ...rest }: Props) {
  return (
    <Dialog open={open} onClose={onClose} title="Serah terima">
      <Takers {...rest} />
    </Dialog>
  )
}

function Takers({ who, sum, pending, fault, onPin }: Omit<Props, 'open' | 'onClose'>) {
  const people =
    useDevice().data?.petugas.filter(
      ({ id, dikunci, tunggu_s }) => id !== who && !dikunci && tunggu_s === 0,
    ) ?? []
  const [chosen, setChosen] = useState<number | null>(null)
  // What was wrong with an earlier try is not about this one.
  const [tried, setTried] = useState(false)
  const taker = people.find(({ id }) => id === chosen) ?? (people.length === 1 ? people[0] : undefined)
  if (people.length === 0) return <p>Belum ada petugas lain yang bisa menerima di kasir ini.</p>
  return (
    <View label="Penerima">
      <p>{rupiah(sum)} menjadi modal penerima.</p>
      <fieldset className={styles.people} aria-label="Siapa yang menerima" disabled={pending}>
        {people.map(({ id, nama, role }) => (
          <button
            key={id}
            type="button"
            className={styles.person}
            aria-pressed={id === taker?.id}
            onClick={() => {
              setTried(false)
              setChosen(id)
            }}
          >
            {nama}
            <span className={styles.role}>{roleName(role)}</span>
          </button>
        ))}
      </fieldset>
      {taker && (
        <PinPad
          key={taker.id}
          label={`PIN ${taker.nama}`}
          message={tried ? fault : ''}
          wrong
          disabled={false}
          pending={pending}
          onPin={(pin) => {
            setTried(true)
            onPin(taker.id, taker.nama, pin)
          }}
        />
      )}
    </View>
  )
}
