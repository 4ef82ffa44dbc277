import { importAgain } from '@/shared/lib/import-again'

/** The realtime client, fetched when it is needed first. */
export const socketLibrary = importAgain(() => import('socket.io-client'))

/** So long may a connection take to open. */
export const OPEN_TIMEOUT_MS = 8_000
