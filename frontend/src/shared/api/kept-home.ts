import type { AkunEpay, Dashboard } from '@/shared/api/model'
import { offlineSnapshot } from '@/shared/lib/session/offline-snapshot'
import { isRecord } from '@/shared/lib/session/storage'

/** The last known dashboard, so that a reload and a phone without network show something, with its age. */
export const keptHome = offlineSnapshot(
  'beranda',
  (data): data is { dashboard: Dashboard; epay: AkunEpay[] } =>
    isRecord(data) && isRecord(data.dashboard) && Array.isArray(data.epay),
)
