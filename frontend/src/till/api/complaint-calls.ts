// The calls about what customers complained of, apart from those that every till loads.
import type { Schemas } from '@/shared/api/model'
import { ops } from '@/till/api/client'
import type { Rows } from '@/till/api/types'

/** A complaint with what is known of its purchase. */
export type Complaint = Schemas['ComplaintRow']

/** More than one outlet leaves unanswered. */
const MAX = 100

export const complaintKeys = { open: (idoutlet: number) => ['complaints', idoutlet] }

export const getOpenComplaints = (idoutlet: number, signal?: AbortSignal) =>
  ops<Rows<Complaint>>('GET', `keluhan?status=terbuka&idoutlet=${idoutlet}&limit=${MAX}`, { signal })
/** The customer reads the sentence. */
export const rejectComplaint = (id: number, kalimat: string) =>
  ops<null>('POST', `keluhan/${id}/tolak`, { body: { kalimat } satisfies Schemas['Tolak'] })
