/** How a state is drawn: by shape and by colour (mesin.module.css). A state that this page does not know looks like none of the others. */
export type Look = 'siap' | 'jalan' | 'menunggu' | 'belum_pasti' | 'perlu_petugas' | 'ditutup' | 'offline'

const NAMES: Record<Look, string> = {
  siap: 'Siap',
  jalan: 'Jalan',
  menunggu: 'Menunggu mesin',
  belum_pasti: 'Belum pasti',
  perlu_petugas: 'Perlu petugas',
  ditutup: 'Ditutup',
  offline: 'Offline',
}

export const LOOKS = Object.keys(NAMES) as Look[]

/** Null for a state of a newer server. */
export const lookOf = (keadaan: string): Look | null => (keadaan in NAMES ? (keadaan as Look) : null)

export function stateName(keadaan: string): string {
  const look = lookOf(keadaan)
  return look === null ? 'Tidak dikenal' : NAMES[look]
}
