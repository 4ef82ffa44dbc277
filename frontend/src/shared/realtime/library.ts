import { importAgain } from '@/shared/lib/net/import-again'

/** The realtime client, fetched at its first use. */
export const socketLibrary = importAgain(() => import('socket.io-client'))

/** Time limit for opening a connection. */
export const OPEN_TIMEOUT_MS = 8_000
