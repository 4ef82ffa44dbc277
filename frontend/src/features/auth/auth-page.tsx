import type { ReactNode } from 'react'
import { Kawung } from '@/shared/ui/kawung'
import { BackArrow, Footer, PageTitle } from '@/shared/ui/page'
import styles from './auth-page.module.css'
import { Drum } from './drum'
import { useKeyboard } from './use-keyboard'

interface Props {
  title: string
  /** Target of the back arrow when no screen of ours lies before. */
  back: string
  children: ReactNode
}

/** A screen before the login: its title in an indigo band, which disappears while the customer types, over a sheet with the form. */
export function AuthPage({ title, back, children }: Props) {
  const keyboard = useKeyboard()
  return (
    <main className={styles.page} data-keyboard={keyboard || undefined}>
      <header className={styles.band}>
        <Kawung />
        <Drum className={styles.drum} />
        <BackArrow to={back} />
        <PageTitle className={styles.title}>{title}</PageTitle>
      </header>
      <div className={styles.sheet}>{children}</div>
    </main>
  )
}

/** The end of a form: its button, in reach of the thumb, and below it the link for customers on the wrong screen. */
export function AuthFooter({ children }: { children: ReactNode }) {
  return <Footer className={styles.footer}>{children}</Footer>
}
