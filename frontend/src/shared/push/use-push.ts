import { useEffect, useLayoutEffect } from 'react'
import { useSend } from '@/shared/api/use-send'
import { extras } from '@/shared/copy/extras'
import { toast } from '@/shared/lib/toast'
import { whenIdle } from '@/shared/lib/when-idle'
import { glanceAtPush, type PushState, renewPush, turnPushOff, turnPushOn, usePush } from './push'

/** What to do where a tap alone does not turn it on. */
const WHY_NOT: Partial<Record<PushState, string>> = {
  refused: extras.push.allow,
  homeScreenFirst: extras.push.homeScreenFirst,
}

/** How it is, and its switch. */
export function usePushSwitch() {
  const state = usePush((push) => push.state)
  // Before anything is drawn: what is offered pushes nothing down.
  useLayoutEffect(() => {
    if (state === 'unknown') glanceAtPush()
  }, [state])
  useEffect(() => {
    // What cannot be asked now is asked when the next screen looks.
    if (state === 'unknown')
      whenIdle()
        .then(renewPush)
        .catch(() => undefined)
  }, [state])
  const { pending, submit } = useSend({
    send: async () => (state === 'on' ? turnPushOff() : turnPushOn()),
    words: () => ({ title: extras.push.failed, body: extras.push.failedBody }),
    onDone(now) {
      if (now === 'on') toast.success(extras.push.on)
      const why = now && WHY_NOT[now]
      if (why) toast.info(why)
    },
  })
  return { state, pending, toggle: () => submit() }
}
