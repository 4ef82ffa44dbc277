import { useNavigate } from 'react-router'
import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { KEEP_CLEAR } from '@/shared/lib/free-top'
import { paths } from '@/shared/lib/paths'
import { Button } from '@/shared/ui/button'
import { Kawung } from '@/shared/ui/kawung'
import { PageTitle } from '@/shared/ui/page'
import styles from './welcome-page.module.css'

/** The welcome card with its two buttons. */
export default function WelcomePage() {
  const navigate = useNavigate()
  return (
    <main className={styles.page}>
      <div className={styles.hero}>
        <Kawung className={styles.kawung} />
        <Porthole />
        <div className={styles.brand} {...KEEP_CLEAR}>
          <PageTitle className={styles.name}>{added.brand}</PageTitle>
        </div>
      </div>
      <section className={styles.card}>
        <h2 className={styles.headline} {...KEEP_CLEAR}>
          {added.welcome.title}
        </h2>
        <p className={styles.text}>{added.welcome.body}</p>
        <div className={styles.actions}>
          <Button onClick={() => navigate(paths.register)}>{spec.register}</Button>
          <Button variant="secondary" onClick={() => navigate(paths.login)}>
            {spec.logIn}
          </Button>
        </div>
      </section>
    </main>
  )
}

/** The signature of the app: a washing machine's window with its water. */
function Porthole() {
  return (
    <svg className={styles.porthole} viewBox="0 0 200 200" aria-hidden="true">
      <circle cx="100" cy="100" r="92" fill="none" stroke="#fff" strokeOpacity="0.16" strokeWidth="12" />
      <path
        d="M100 8a92 92 0 1 1-79.700 46"
        fill="none"
        stroke="#fff"
        strokeWidth="12"
        strokeLinecap="round"
      />
      <clipPath id="kaca">
        <circle cx="100" cy="100" r="74" />
      </clipPath>
      <g clipPath="url(#kaca)">
        <circle cx="100" cy="100" r="74" fill="#fff" fillOpacity="0.08" />
        <path
          className={styles.wave}
          d="M-80 108q20-14 40 0t40 0 40 0 40 0 40 0 40 0 40 0 40 0v100H-80z"
          fill="#F2B01E"
        />
        <path
          className={styles.waveBack}
          d="M-80 116q20-14 40 0t40 0 40 0 40 0 40 0 40 0 40 0 40 0v100H-80z"
          fill="#fff"
          fillOpacity="0.22"
        />
      </g>
    </svg>
  )
}
