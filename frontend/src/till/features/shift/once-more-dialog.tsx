import { rupiah } from '@/shared/lib/text/format'
import { Button } from '@/shared/ui/button'
import { Dialog } from '@/shared/ui/dialog'
import { View } from '@/till/ui/view'

interface Props {
  open: boolean
  sum: number
  onDecided: (stands: boolean) => void
}

/**
 * Asks for confirmation of a zero count, or of one that the server finds doubtful, before it is final. It does not show the expected sum.
 */
export function OnceMoreDialog({ open, sum, onDecided }: Props) {
  return (
    <Dialog open={open} onClose={() => onDecided(false)} title="Hitung sekali lagi?">
      <View label="Hitungan">
        <p>
          {`${
            sum === 0
              ? 'Hitungan Anda Rp 0, artinya laci kosong.'
              : `Cocokkan lagi uang di laci dengan hitungan Anda, ${rupiah(sum)}.`
          } Sesudah disimpan, hitungan tidak bisa diubah.`}
        </p>
        <Button onClick={() => onDecided(false)}>Hitung lagi</Button>
        <Button variant="secondary" onClick={() => onDecided(true)}>
          {`Ya, simpan ${rupiah(sum)}`}
        </Button>
      </View>
    </Dialog>
  )
}
