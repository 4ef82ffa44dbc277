/** First and last name as one; a name of one word has no last name. */
export function namaLengkap({ nama_awal, nama_akhir }: { nama_awal: string; nama_akhir: string }): string {
  return `${nama_awal} ${nama_akhir}`.trim()
}

/** At most two letters that stand for a name. */
export function inisial(nama: string): string {
  const kata = nama.split(' ').filter(Boolean)
  const huruf = [kata[0], kata.length > 1 ? kata.at(-1) : undefined]
  return huruf
    .map((k) => [...(k ?? '')][0] ?? '')
    .join('')
    .toLocaleUpperCase('id')
}
