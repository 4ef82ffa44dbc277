import { useEffect, useState } from 'react'

/** Whether the page was out of sight since `from` began: the customer may have paid in another app. `start`: it was before that. */
export function useBeenAway(from: string | null, start: boolean): boolean {
  const [away, setAway] = useState(start)
  useEffect(() => {
    setAway(start)
    const onHide = () => document.visibilityState === 'hidden' && from !== null && setAway(true)
    document.addEventListener('visibilitychange', onHide)
    return () => document.removeEventListener('visibilitychange', onHide)
  }, [from, start])
  return away
}
