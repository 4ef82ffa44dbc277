import styles from './chips.module.css'

interface Props<T extends string | number> {
  label: string
  options: readonly { value: T; text: string; name?: string }[]
  chosen: readonly T[]
  disabled?: boolean
  /** Two in each row. */
  paired?: boolean
  onChoose: (value: T) => void
}

const PAIRED = { display: 'grid', gridTemplateColumns: '1fr 1fr' }

/** A few choices side by side. `name` is for a screen reader, where `text` is short. */
export function Chips<T extends string | number>({
  label,
  options,
  chosen,
  disabled,
  paired = false,
  onChoose,
}: Props<T>) {
  return (
    <fieldset className={styles.field} disabled={disabled}>
      <legend className={styles.label}>{label}</legend>
      <div className={styles.chips} style={paired ? PAIRED : undefined}>
        {options.map(({ value, text, name }) => (
          <button
            key={value}
            type="button"
            className={styles.chip}
            aria-pressed={chosen.includes(value)}
            aria-label={name}
            onClick={() => onChoose(value)}
          >
            {text}
          </button>
        ))}
      </div>
    </fieldset>
  )
}
