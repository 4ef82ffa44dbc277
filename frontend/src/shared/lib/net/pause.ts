export const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms))

/** Waits for the pause, or until the network is back, if that is earlier. */
export function onlineOrPause(pause_ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      window.removeEventListener('online', done)
      resolve()
    }
    const timer = setTimeout(done, pause_ms)
    window.addEventListener('online', done)
  })
}
