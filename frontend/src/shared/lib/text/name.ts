import { lastOf } from '@/shared/lib/text/last-of'
/** First and last name combined; a name without blanks has no last name. */
export function fullName({ nama_awal, nama_akhir }: { nama_awal: string; nama_akhir: string }): string {
  return `${nama_awal} ${nama_akhir}`.trim()
}

/** At most two letters as a short form of a name. */
export function initials(name: string): string {
  const words = name.split(' ').filter(Boolean)
  const letters = [words[0], words.length > 1 ? lastOf(words) : undefined]
  return letters
    .map((k) => [...(k ?? '')][0] ?? '')
    .join('')
    .toLocaleUpperCase('id')
}
