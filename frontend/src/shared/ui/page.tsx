import { ArrowLeft } from 'lucide-react'
import { type ReactNode, useEffect, useRef } from 'react'
import { copy } from '@/shared/copy/copy'
import { focusMoved, isFirstScreen } from '@/shared/lib/page/arrival'
import { useStuckHeight } from '@/shared/lib/page/stuck-height'
import { useBack, useBackTo } from '@/shared/lib/page/trail'
import type { Elements } from '@/shared/ui/elements'
import { IconButton } from '@/shared/ui/icon-button'
import styles from './page.module.css'

interface Props {
  title: string
  /** Target of the back arrow when no screen of ours lies before; without it there is no arrow. */
  back?: string
  /** The arrow always leads there, whatever lies before. */
  backAlways?: boolean
  trailing?: Elements
  /** Leaves room for the bottom bar. */
  bar?: boolean
  /** The screen's action: stays at the bottom, in reach of the thumb, while the body scrolls below it. */
  footer?: Elements
  children: Elements
}

/** A screen: its title as the one h1, an optional way back, and the body below. */
export function Page({ title, back, backAlways = false, trailing, bar = false, footer, children }: Props) {
  return (
    <main className={`${styles.page} ${bar ? styles.withBar : ''}`}>
      <header className={styles.header}>
        {back && <BackArrow to={back} always={backAlways} />}
        <PageTitle className={`${styles.title} ${back ? '' : styles.titleAlone}`}>{title}</PageTitle>
        {trailing}
      </header>
      <div className={styles.body}>{children}</div>
      {footer && <Footer>{footer}</Footer>}
    </main>
  )
}

/** What stays at the bottom of a screen, above the bar. */
export function Footer({
  className = '',
  children,
}: {
  className?: string | undefined
  children: ReactNode
}) {
  const ref = useStuckHeight<HTMLElement>('--stuck-footer')
  return (
    <footer ref={ref} className={`${styles.footer} ${className}`}>
      {children}
    </footer>
  )
}

export function BackArrow({ to, always = false }: { to: string; always?: boolean }) {
  const back = useBack(to)
  const backTo = useBackTo(to)
  return (
    <IconButton label={copy.common.back} onClick={always ? backTo : back}>
      <ArrowLeft size={24} aria-hidden />
    </IconButton>
  )
}

interface TitleProps {
  children: string
  className?: string | undefined
  /** The document's title where it is not the heading's text. */
  name?: string
}

let firstTitle = true

/**
 * The h1. Sets the document's title and takes the focus after a change of screen, so that a screen reader announces the screen. It takes
 * no focus on the first load, where the reader starts at the top anyway, nor after the customer has moved the focus.
 */
export function PageTitle({ children, className, name = children }: TitleProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = name === copy.brand ? name : `${name} · ${copy.brand}`
  }, [name])
  useEffect(() => {
    const isFirst = firstTitle && isFirstScreen()
    firstTitle = false
    if (isFirst) return
    window.scrollTo(0, 0)
    if (!focusMoved()) heading.current?.focus({ preventScroll: true })
  }, [])
  return (
    <h1 ref={heading} tabIndex={-1} className={className}>
      {children}
    </h1>
  )
}
