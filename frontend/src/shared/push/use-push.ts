import { useEffect, useLayoutEffect } from 'react'
import { useSend } from '@/shared/api/use-send'
import { later } from '@/shared/copy/later'
import { whenIdle } from '@/shared/lib/page/when-idle'
import { toast } from '@/shared/lib/toast/toast'
import { glanceAtPush, renewPush, turnPushOff, turnPushOn, usePush } from './push'
import type { PushState } from './subscription'

/** Advice where a tap alone does not turn it on. */
const WHY_NOT: Partial<Record<PushState, string>> = {
  refused: later.push.allow,
  homeScreenFirst: later.push.homeScreenFirst,
}

/** The state of pushes, and its switch. */
export function usePushSwitch() {
  const state = usePush((push) => push.state)
  // Runs before the first paint, so that the offer pushes nothing down.
  useLayoutEffect(() => {
    if (state === 'unknown') glanceAtPush()
  }, [state])
  useEffect(() => {
    // If the check fails now, the next screen repeats it.
    if (state === 'unknown')
      whenIdle()
        .then(renewPush)
        .catch(() => undefined)
  }, [state])
  const { pending, submit } = useSend({
    send: async () => (state === 'on' ? turnPushOff() : turnPushOn()),
    texts: () => ({ title: later.push.failed, body: later.push.failedBody }),
    onDone(now) {
      if (now === 'on') toast.success(later.push.on)
      const why = now && WHY_NOT[now]
      if (why) toast.info(why)
    },
  })
  return { state, pending, toggle: () => submit() }
}
