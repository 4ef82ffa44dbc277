import type { LucideIcon } from 'lucide-react'
import { Card } from '@/shared/ui/card'
import styles from './guide.module.css'

interface Props {
  title: string
  /** The steps in their order; with icons where the order does not matter. */
  steps: readonly (string | readonly [LucideIcon, string])[]
}

/** A card that explains: numbered steps, or what each thing is for. */
export function Guide({ title, steps }: Props) {
  const List = steps.every((step) => typeof step === 'string') ? 'ol' : 'ul'
  return (
    <Card className={styles.guide}>
      <h2 className={styles.heading}>{title}</h2>
      <List className={styles.steps}>
        {steps.map((step, index) => {
          const [Icon, text] = typeof step === 'string' ? [null, step] : step
          return (
            <li key={text} className={styles.step}>
              <span className={styles.mark} aria-hidden="true">
                {Icon ? <Icon size={24} /> : index + 1}
              </span>
              <span>{text}</span>
            </li>
          )
        })}
      </List>
    </Card>
  )
}
