import type { Person } from '@/till/api/types'
import { roleName } from '@/till/lib/session/role-name'
import styles from './choose-person.module.css'

interface Props {
  label: string
  people: Person[]
  chosen: number | undefined
  disabled?: boolean
  onChoose: (id: number) => void
}

/** Chooses one of the members of staff who may log in here; their PIN comes next. */
export function ChoosePerson({ label, people, chosen, disabled, onChoose }: Props) {
  return (
    <fieldset className={styles.people} aria-label={label} disabled={disabled}>
      {people.map(({ id, nama, role }) => (
        <button
          key={id}
          type="button"
          className={styles.person}
          aria-pressed={id === chosen}
          onClick={() => onChoose(id)}
        >
          <span>{nama}</span>
          <span className={styles.role}>{roleName(role)}</span>
        </button>
      ))}
    </fieldset>
  )
}
