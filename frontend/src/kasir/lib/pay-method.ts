import type { PayMethod } from '@/kasir/api/types'

export const METHODS: Record<PayMethod, string> = { tunai: 'Tunai', qris: 'QRIS', transfer: 'Transfer' }
