import { useEffect } from 'react'

/**
 * Keeps the screen on while this is mounted, where the phone can. The system releases the lock with every change to another app, so it is
 * requested again on return.
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
        // Refused, for example to save battery: the code is shown anyway.
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
