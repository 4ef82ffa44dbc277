import type { PayMethod } from '@/till/api/types'

/** In the order of the screen. */
export const PAY_METHODS: PayMethod[] = ['tunai', 'qris', 'transfer']

const NAMES: Record<string, string> = { tunai: 'Tunai', qris: 'QRIS', transfer: 'Transfer' }

export const methodName = (method: string): string => NAMES[method] ?? method
