import { useEffect } from 'react'

/**
 * Keeps the screen on while this is shown, where the phone can. The system takes the lock away with every
 * change to another app, so it is asked for again on return.
 */
export function useWakeLock(): void {
  useEffect(() => {
    if (!('wakeLock' in navigator)) return
    let lock: WakeLockSentinel | null = null
    let over = false

    const ask = async () => {
      if (over || document.visibilityState !== 'visible' || (lock && !lock.released)) return
      try {
        const granted = await navigator.wakeLock.request('screen')
        if (over) await granted.release()
        else lock = granted
      } catch {
        // Refused to save battery, for one: the code can be shown all the same.
      }
    }
    void ask()
    document.addEventListener('visibilitychange', ask)
    return () => {
      over = true
      document.removeEventListener('visibilitychange', ask)
      void lock?.release().catch(() => undefined)
    }
  }, [])
}
