import { paths } from '@/shared/lib/page/paths'
import form from '@/shared/ui/form.module.css'
import { Page } from '@/shared/ui/page'
import { privacy } from './privacy-copy'
import styles from './privasi-page.module.css'

/** What is stored about a customer, who sees it, for how long, and what they can do: for everybody, with or without a login. */
export default function PrivasiPage() {
  return (
    <Page title={privacy.title} back={paths.welcome}>
      <p>{privacy.lead}</p>
      {privacy.sections.map(({ title, points }) => (
        <section key={title} aria-label={title}>
          <h2 className={styles.heading}>{title}</h2>
          <ul className={styles.points}>
            {points.map((point) => (
              <li key={point}>{point}</li>
            ))}
          </ul>
        </section>
      ))}
      <p className={form.lead}>{privacy.law}</p>
    </Page>
  )
}
