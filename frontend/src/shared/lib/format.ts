import { added } from '@/shared/copy/added'

// Numbers and dates are written by hand: the first use of `Intl` in another language than the phone's keeps a weak phone
// busy for a tenth of a second, just before the first balance is drawn.

/** Whole rupiah as `Rp 85.000`, negative as `-Rp 8.000`; decimals only when there are any (product.md §9). */
export function rupiah(nilai: number): string {
  const [bulat = '', sen = ''] = Math.abs(nilai).toFixed(2).split('.')
  const angka = [bulat.replace(/\B(?=(\d{3})+$)/g, '.'), sen.replace(/0+$/, '')].filter(Boolean).join(',')
  return `${nilai < 0 ? '-' : ''}Rp ${angka}`
}

/** As `rupiah`, with a plus before what comes in: the sign carries the meaning, not the colour alone. */
export function rupiahBertanda(nilai: number): string {
  return nilai > 0 ? `+${rupiah(nilai)}` : rupiah(nilai)
}

/** Outlets live in western Indonesia unless told otherwise: Jakarta's clock, which knows no summer time. */
const ZONA_MS = 7 * 3_600_000

type Bagian = Record<'day' | 'month' | 'year' | 'hour' | 'minute' | 'second', string>

/** The parts of an instant in Jakarta; null for what is no date. */
export function bagian(saat: string | number | Date): Bagian | null {
  const date = new Date(new Date(saat).getTime() + ZONA_MS)
  if (Number.isNaN(date.getTime())) return null
  const [year = '', month = '', day = '', hour = '', minute = '', second = ''] = date
    .toISOString()
    .split(/[-T:.]/)
  return { year, month, day, hour, minute, second }
}

/** `20/11/2026` */
export function tanggal(saat: string | number | Date): string {
  const b = bagian(saat)
  return b ? `${b.day}/${b.month}/${b.year}` : '-'
}

/** `20/11/2026 18:05` */
export function tanggalWaktu(saat: string | number | Date): string {
  const b = bagian(saat)
  return b ? `${b.day}/${b.month}/${b.year} ${b.hour}:${b.minute}` : '-'
}

/** `18:05` */
export function jam(saat: string | number | Date): string {
  const b = bagian(saat)
  return b ? `${b.hour}:${b.minute}` : '-'
}

/** `November 2026`, the history's separator. */
export function bulanTahun(saat: string | number | Date): string {
  const b = bagian(saat)
  return b ? `${added.months[Number(b.month) - 1]} ${b.year}` : '-'
}

/** Whole minutes of a duration in seconds, floored (product.md §9). */
export function menit(durasi_s: number): number {
  return Math.floor(durasi_s / 60)
}

const dua = (n: number) => String(n).padStart(2, '0')

/**
 * Time left as `mm:ss`, from 100 minutes on `h:mm:ss`. Rounded up, so that `00:00` is shown when and
 * only when nothing is left.
 */
export function sisaWaktu(sisa_ms: number): string {
  const detik = Math.max(0, Math.ceil(sisa_ms / 1000))
  const m = Math.floor(detik / 60)
  if (m < 100) return `${dua(m)}:${dua(detik % 60)}`
  return `${Math.floor(m / 60)}:${dua(m % 60)}:${dua(detik % 60)}`
}

/** A telephone number without country code in groups of four with a leading 0: `0812 3456 7890`. */
export function telpBerkelompok(telp: string): string {
  const lengkap = telp.startsWith('0') ? telp : `0${telp}`
  return lengkap.replace(/(.{4})(?=.)/g, '$1 ')
}
