import { added } from '@/shared/copy/added'
import { bersihkanTelp } from '@/shared/lib/telp'
import { Field } from '@/shared/ui/field'

interface Props {
  value: string
  onChange: (telp: string) => void
  invalid?: boolean
}

/** The WhatsApp number with its fixed prefix 62. */
export function TelpField({ value, onChange, invalid = false }: Props) {
  return (
    <Field
      label={added.nomorWhatsApp}
      name="telp"
      prefix="62"
      type="tel"
      inputMode="numeric"
      autoComplete="tel-national"
      placeholder={added.contohTelp}
      hint={added.petunjukTelp}
      value={value}
      invalid={invalid}
      onChange={(event) => onChange(bersihkanTelp(event.target.value))}
    />
  )
}
