// The calls of the board (docs/board.md), apart from the till's other calls: only the board's own chunk needs them.
import type { Schemas } from '@/shared/api/model'
import type { MoneyRequest } from '@/till/api/calls'
import { ops } from '@/till/api/client'
import type { Attention, Taken, Tile } from '@/till/api/types'

/** Takes an entry; taking one's own again gets the same answer. */
export const takeEntry = ({ jenis, idoutlet, idmesin, idshift, sejak }: Attention) =>
  ops<Taken>('POST', 'perhatian/tangani', {
    body: { jenis, idoutlet, idmesin, idshift, sejak } satisfies Schemas['Tangani'],
  })

/** Asks the machine's device; the tile as it is after the answer. */
export const askMachine = (id: number) => ops<Tile>('POST', `mesin/${id}/tanya`)

export const closingOfMachine = (id: number, alasan: string): MoneyRequest<null> => ({
  path: `mesin/${id}/tutup`,
  body: { alasan } satisfies Schemas['CloseMesin'],
})
export const openingOfMachine = (id: number): MoneyRequest<null> => ({ path: `mesin/${id}/buka`, body: {} })
export const stopOfMachine = (id: number, alasan: string): MoneyRequest<null> => ({
  path: `mesin/${id}/stop`,
  body: { alasan } satisfies Schemas['StopRequest'],
})
export const testStartOf = (id: number, durasi: number): MoneyRequest<Schemas['TestStarted']> => ({
  path: `mesin/${id}/uji`,
  body: { durasi } satisfies Schemas['TestStart'],
})
export const pulseTestOf = (id: number, pulsa: number): MoneyRequest<Schemas['TestStarted']> => ({
  path: `mesin/${id}/uji`,
  body: { pulsa } satisfies Schemas['TestStart'],
})
export const timingsOf = (
  id: number,
  timings: Required<Pick<Schemas['MesinChange'], 'lebar_ms' | 'jeda_ms' | 'sense_s'>>,
): MoneyRequest<null> => ({ path: `mesin/${id}`, body: timings })
export const serviceOf = (id: number): MoneyRequest<null> => ({ path: `mesin/${id}/servis`, body: {} })

export type Details = Schemas['Rincian']
/** The query of all that is known of a machine. */
export const machineDetails = (id: number) => ({
  queryKey: ['machine', id],
  queryFn: ({ signal }: { signal: AbortSignal }) => ops<Details>('GET', `mesin/${id}/rincian`, { signal }),
  retry: false,
})
