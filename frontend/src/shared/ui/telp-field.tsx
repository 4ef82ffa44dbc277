import { copy } from '@/shared/copy/copy'
import type { FieldOfForm } from '@/shared/lib/form/use-form'
import { cleanTelp } from '@/shared/lib/text/telp'
import { Field } from '@/shared/ui/field'

interface Props extends FieldOfForm {
  /** Where it is not the number of one's own login. */
  label?: string
  autoComplete?: string
  disabled?: boolean
  value: string
  onChange: (telp: string) => void
}

/** The WhatsApp number with its fixed prefix 62. A password manager stores the password under it. */
export function TelpField({
  label = copy.form.whatsAppNumber,
  autoComplete = 'username',
  onChange,
  ...field
}: Props) {
  return (
    <Field
      {...field}
      label={label}
      prefix="62"
      type="tel"
      inputMode="numeric"
      autoComplete={autoComplete}
      hint={copy.form.telpHint}
      onChange={(event) => onChange(cleanTelp(event.target.value))}
    />
  )
}
