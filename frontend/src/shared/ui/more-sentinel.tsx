import { useEffect, useEffectEvent, useRef } from 'react'
import { common } from '@/shared/copy/common'
import { Button } from '@/shared/ui/button'
import { Spinner } from '@/shared/ui/spinner'
import styles from './more-sentinel.module.css'

/** Distance of the list's end below the screen at which the next page is requested. */
const AHEAD = '400px'

interface Props {
  loading: boolean
  /** The last attempt failed: the next one needs a tap, not scrolling. */
  failed: boolean
  onMore: () => void
}

/** The end of what is loaded; seeing it loads the next page. */
export function MoreSentinel({ loading, failed, onMore }: Props) {
  const end = useRef<HTMLDivElement>(null)
  const seen = useEffectEvent(onMore)

  useEffect(() => {
    if (loading || failed || !end.current) return
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) seen()
      },
      { rootMargin: AHEAD },
    )
    observer.observe(end.current)
    return () => observer.disconnect()
  }, [loading, failed])

  return (
    <div ref={end} className={styles.end}>
      {failed ? (
        <>
          <p>{common.moreFailed}</p>
          <Button variant="secondary" onClick={onMore}>
            {common.tryAgain}
          </Button>
        </>
      ) : (
        <span role="status" className={styles.more}>
          <Spinner />
          {common.loadingMore}
        </span>
      )}
    </div>
  )
}
