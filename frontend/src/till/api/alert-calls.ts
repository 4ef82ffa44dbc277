// The calls of a person's alerts (docs/board.md), apart from those that every till loads.
import type { Schemas } from '@/shared/api/model'
import type { SubscriptionBody } from '@/shared/push/subscription'
import { ops } from '@/till/api/client'

/** Which alerts a person wants: kinds, outlets (null: all in sight), quiet hours (null: none), the figures in the morning. */
export type Alarm = Schemas['Alarm']

export const alertKeys = { alarm: ['alarm'] }

export const getAlarm = (signal?: AbortSignal) => ops<Alarm>('GET', 'alarm', { signal })
export const setAlarm = (body: Alarm) => ops<Alarm>('POST', 'alarm', { body })

export const getPushKey = () => ops<{ kunci: string }>('GET', 'push/kunci')
export const subscribeHere = (body: SubscriptionBody) => ops<null>('POST', 'push/langganan', { body })
export const unsubscribeHere = (endpoint: string) =>
  ops<null>('POST', 'push/berhenti', { body: { endpoint } satisfies Schemas['Berhenti'] })
