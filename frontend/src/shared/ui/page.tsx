import { ArrowLeft } from 'lucide-react'
import { type ReactNode, useEffect, useRef } from 'react'
import { useNavigate } from 'react-router'
import { added } from '@/shared/copy/added'
import { IconButton } from '@/shared/ui/icon-button'
import styles from './page.module.css'

interface Props {
  title: string
  /** Address of the back arrow; without it there is none. */
  back?: string
  trailing?: ReactNode
  /** Leaves room for the bottom bar. */
  bar?: boolean
  children: ReactNode
}

/** A screen: its title as the one h1, an optional way back, and the body below. */
export function Page({ title, back, trailing, bar = false, children }: Props) {
  const navigate = useNavigate()
  return (
    <main className={`${styles.page} ${bar ? styles.withBar : ''}`}>
      <header className={styles.header}>
        {back && (
          <IconButton label={added.umum.kembali} onClick={() => navigate(back)}>
            <ArrowLeft size={24} aria-hidden />
          </IconButton>
        )}
        <PageTitle className={`${styles.title} ${back ? '' : styles.titleAlone}`}>{title}</PageTitle>
        {trailing}
      </header>
      <div className={styles.body}>{children}</div>
    </main>
  )
}

interface TitleProps {
  children: string
  className?: string | undefined
  /** The document's name where it is not the heading's text. */
  name?: string
}

let firstTitle = true

/**
 * The h1. Names the document and takes the focus after a change of screen, so that a screen reader says
 * where one is; not on the first load, where the reader starts at the top anyway.
 */
export function PageTitle({ children, className, name = children }: TitleProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = name === added.merek ? name : `${name} · ${added.merek}`
  }, [name])
  useEffect(() => {
    if (firstTitle) {
      firstTitle = false
      return
    }
    window.scrollTo(0, 0)
    heading.current?.focus({ preventScroll: true })
  }, [])
  return (
    <h1 ref={heading} tabIndex={-1} className={className}>
      {children}
    </h1>
  )
}
