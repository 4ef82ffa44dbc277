import { Check } from 'lucide-react'
import { useId } from 'react'
import { copy } from '@/shared/copy/copy'
import { passwordAdvice } from '@/shared/lib/form/password-advice'
import type { FieldProps } from '@/shared/ui/field'
import { PasswordField } from '@/shared/ui/password-field'
import styles from './new-password-field.module.css'

type Props = Omit<FieldProps, 'value' | 'type' | 'trailing' | 'autoComplete' | 'describedBy' | 'children'> & {
  value: string
}

/** A new password, with the advice for a good one ticked off as it is typed. The ticks are not required. */
export function NewPasswordField(props: Props) {
  const id = useId()
  return (
    <PasswordField {...props} autoComplete="new-password" describedBy={id}>
      <ul id={id} className={styles.list}>
        {passwordAdvice(props.value).map(({ text, met }) => (
          <li key={text} className={styles.item} data-met={met || undefined}>
            <span className={styles.mark}>{met && <Check size={18} aria-hidden />}</span>
            <span>{text}</span>
            <span className="visually-hidden">
              {met ? copy.form.passwordAdvice.met : copy.form.passwordAdvice.unmet}
            </span>
          </li>
        ))}
      </ul>
    </PasswordField>
  )
}
