import { added } from '@/shared/copy/added'
import type { FieldOfForm } from '@/shared/lib/use-form'
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
      label={added.whatsAppNumber}
      prefix="62"
      type="tel"
      inputMode="numeric"
      autoComplete="username"
      hint={added.telpHint}
      onChange={(event) => onChange(cleanTelp(event.target.value))}
    />
  )
}
