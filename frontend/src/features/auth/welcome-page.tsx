import { useNavigate } from 'react-router'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { KEEP_CLEAR, KEEP_CLEAR_BELOW } from '@/shared/lib/free-place'
import { paths } from '@/shared/lib/paths'
import { Button } from '@/shared/ui/button'
import { Kawung } from '@/shared/ui/kawung'
import { PageTitle } from '@/shared/ui/page'
import { Drum } from './drum'
import styles from './welcome-page.module.css'

/** The welcome card with its two buttons. */
export default function WelcomePage() {
  const navigate = useNavigate()
  return (
    <main className={styles.page}>
      <div className={styles.hero}>
        <Kawung />
        <Drum className={styles.drum} />
        <div className={styles.brand} {...KEEP_CLEAR}>
          <PageTitle className={styles.name}>{added.brand}</PageTitle>
        </div>
      </div>
      <section className={styles.card}>
        <h2 className={styles.headline} {...KEEP_CLEAR}>
          {added.welcome.title}
        </h2>
        <p className={styles.text}>{added.welcome.body}</p>
        <div className={styles.actions} {...KEEP_CLEAR_BELOW}>
          <Button onClick={() => navigate(paths.register)}>{spec.register}</Button>
          <Button variant="secondary" onClick={() => navigate(paths.login)}>
            {spec.logIn}
          </Button>
        </div>
      </section>
    </main>
  )
}
