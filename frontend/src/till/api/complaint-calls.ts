// The calls about what customers complained of, apart from those that every till loads.
import type { Schemas } from '@/shared/api/model'
import { ops } from '@/till/api/client'
import type { Rows } from '@/till/api/types'

/** A complaint with what is known of its purchase. */
export interface Complaint {
  idkeluhan: number
  /** The receipt number. */
  idtransaksi: string
  idcustomer: number
  created_at: string
  alasan: string
  catatan: string | null
  mesin: string
  grandtotal: number
  dikembalikan: number
  bukti: {
    riwayat: Schemas['Riwayat'][]
    perangkat: Schemas['PerangkatMesin'] | null
    bulan_ini: Schemas['GivenBackOften']
  }
}

/** More than one outlet leaves unanswered. */
const MAX = 100

export const complaintKeys = { open: (idoutlet: number) => ['complaints', idoutlet] }

export const getOpenComplaints = (idoutlet: number, signal?: AbortSignal) =>
  ops<Rows<Complaint>>('GET', `keluhan?status=terbuka&idoutlet=${idoutlet}&limit=${MAX}`, { signal })
/** The customer reads the sentence. */
export const rejectComplaint = (id: number, kalimat: string) =>
  ops<null>('POST', `keluhan/${id}/tolak`, { body: { kalimat } })
