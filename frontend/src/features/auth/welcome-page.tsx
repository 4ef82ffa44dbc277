import { useNavigate } from 'react-router'
import { copy } from '@/shared/copy/copy'
import { paths } from '@/shared/lib/page/paths'
import { useStuckHeight } from '@/shared/lib/page/stuck-height'
import { Button } from '@/shared/ui/button'
import { Kawung } from '@/shared/ui/kawung'
import { PageTitle } from '@/shared/ui/page'
import { Drum } from './drum'
import styles from './welcome-page.module.css'

/** The welcome card with its two buttons. */
export default function WelcomePage() {
  const navigate = useNavigate()
  const actions = useStuckHeight<HTMLDivElement>('--stuck-footer')
  return (
    <main className={styles.page}>
      <div className={styles.hero}>
        <Kawung />
        <Drum className={styles.drum} />
        <div className={styles.brand}>
          <PageTitle className={styles.name}>{copy.brand}</PageTitle>
        </div>
      </div>
      <section className={styles.card}>
        <h2 className={styles.headline}>{copy.welcome.title}</h2>
        <p className={styles.text}>{copy.welcome.body}</p>
        <div ref={actions} className={styles.actions}>
          <Button onClick={() => navigate(paths.register)}>{copy.auth.register}</Button>
          <Button variant="secondary" onClick={() => navigate(paths.login)}>
            {copy.auth.logIn}
          </Button>
        </div>
      </section>
    </main>
  )
}
