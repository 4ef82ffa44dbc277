import { Eye, EyeOff } from 'lucide-react'
import { useState } from 'react'
import { copy } from '@/shared/copy/copy'
import { Field, type FieldProps } from '@/shared/ui/field'
import styles from './field.module.css'

/** A password with a show/hide toggle. */
export function PasswordField(props: Omit<FieldProps, 'type' | 'trailing'>) {
  const [shown, setShown] = useState(false)
  return (
    <Field
      {...props}
      type={shown ? 'text' : 'password'}
      autoCapitalize="none"
      autoCorrect="off"
      spellCheck={false}
      maxLength={128}
      trailing={
        <button
          type="button"
          className={styles.toggle}
          aria-label={shown ? copy.form.hidePassword : copy.form.showPassword}
          aria-pressed={shown}
          onClick={() => setShown(!shown)}
        >
          {shown ? <EyeOff size={22} aria-hidden /> : <Eye size={22} aria-hidden />}
        </button>
      }
    />
  )
}
