import { slot } from '@/shared/lib/session/storage'

/** Whether this browser's owner wants alerts: a new pairing ends the server's subscription, and the next login renews it. */
export const wantsAlerts = slot<true>(
  'local',
  'nyala.kasir.pemberitahuan',
  (value): value is true => value === true,
)
