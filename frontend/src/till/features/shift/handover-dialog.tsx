import { useState } from 'react'
import { rupiah } from '@/shared/lib/text/format'
import { Dialog } from '@/shared/ui/dialog'
import { useDevice } from '@/till/lib/session/use-device'
import { ChoosePerson } from '@/till/ui/choose-person'
import { PinPad } from '@/till/ui/pin-pad'
import { View } from '@/till/ui/view'

interface Props {
  open: boolean
  /** The member of staff who leaves. */
  who: number
  sum: number
  pending: boolean
  fault: string
  onClose: () => void
  onPin: (idpetugas: number, name: string, pin: string) => void
}

/** Chooses who takes over the counted drawer, and asks for their PIN. */
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
  // The fault of an earlier attempt does not belong to this one.
  const [tried, setTried] = useState(false)
  const taker = people.find(({ id }) => id === chosen) ?? (people.length === 1 ? people[0] : undefined)
  if (people.length === 0) return <p>Belum ada petugas lain yang bisa menerima di kasir ini.</p>
  return (
    <View label="Penerima">
      <p>{`${rupiah(sum)} menjadi modal penerima.`}</p>
      <ChoosePerson
        label="Siapa yang menerima"
        people={people}
        chosen={taker?.id}
        disabled={pending}
        onChoose={(id) => {
          setTried(false)
          setChosen(id)
        }}
      />
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
