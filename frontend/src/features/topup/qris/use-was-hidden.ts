import { useEffect, useState } from 'react'

/** Whether the page was hidden since `from` began: the customer may have paid in another app. `start`: it was before that. */
export function useWasHidden(from: string | null, start: boolean): boolean {
  const [hidden, setHidden] = useState(start)
  useEffect(() => {
    setHidden(start)
    const onHide = () => document.visibilityState === 'hidden' && from !== null && setHidden(true)
    document.addEventListener('visibilitychange', onHide)
    return () => document.removeEventListener('visibilitychange', onHide)
  }, [from, start])
  return hidden
}
