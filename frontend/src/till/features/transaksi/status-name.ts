import type { UseStatus } from '@/till/api/types'

const NAMES: Record<UseStatus, string> = {
  menunggu: 'Menunggu mesin',
  belum_pasti: 'Belum pasti',
  jalan: 'Berjalan',
  selesai: 'Selesai',
  dihentikan: 'Dihentikan',
  gagal: 'Gagal, saldo kembali',
}

export const statusName = (status: UseStatus): string => NAMES[status]
