import { copy } from '@/shared/copy/copy'
import type { FieldOfForm } from '@/shared/lib/form/use-form'
import { Field } from '@/shared/ui/field'
import { cleanTelp } from './telp'

interface Props extends FieldOfForm {
  value: string
  onChange: (telp: string) => void
}

/** The WhatsApp number with its fixed prefix 62. A password manager stores the password under it. */
export function TelpField({ onChange, ...field }: Props) {
  return (
    <Field
      {...field}
      label={copy.form.whatsAppNumber}
      prefix="62"
      type="tel"
      inputMode="numeric"
      autoComplete="username"
      hint={copy.form.telpHint}
      onChange={(event) => onChange(cleanTelp(event.target.value))}
    />
  )
}
