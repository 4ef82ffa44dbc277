import { copy } from '@/shared/copy/copy'
import { longEnough, shortEnough } from '@/shared/lib/form/password-advice'

/** The faults of a form, field by field in the form's order; empty when it may be sent (docs/product.md §5). */
export type Faults<F extends string> = { readonly [field in F]?: string }

/** The parts of a name between blanks; inner blanks collapse. */
export function words(name: string): string[] {
  return name.trim().split(/\s+/).filter(Boolean)
}

/** Maximum letters of a name without its blanks, as the server counts them. */
const NAME_MAX = 99
/** Fillers that count as letters, marks or symbols and show nothing, and unassigned code points. */
const FILLERS = [0x34f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x2065, 0x2800, 0x3164, 0xffa0, 0xfffc, 0x1d159]
const RANGES = [
  [0x180b, 0x180f],
  [0xfff0, 0xfff8],
  [0xe0000, 0xe00ff],
  [0xe01f0, 0xe0fff],
] as const
const isHidden = (letter: string): boolean => {
  const code = letter.codePointAt(0) ?? 0
  return (
    FILLERS.includes(code) ||
    RANGES.some(([from, to]) => code >= from && code <= to) ||
    /\p{Noncharacter_Code_Point}/u.test(letter)
  )
}
const LETTER = '[\\p{L}\\p{N}\\p{P}\\p{S}\\p{Cn}]'
/** A visible character first; marks and variation selectors after it, joiners between two. */
const READABLE = new RegExp(`^${LETTER}(?:${LETTER}|\\p{M}|[\\u200c\\u200d]${LETTER})*$`, 'u')

/** The fault that the server would find in a name, checked before a code is requested (domain/text.rs). */
export function nameFault(name: string): string | undefined {
  const all = words(name)
  if (all.length < 2) return copy.form.nameTooShort
  if ([...all.join('')].length > NAME_MAX) return copy.form.nameTooLong
  return all.every((word) => READABLE.test(word) && ![...word].some(isHidden))
    ? undefined
    : copy.form.nameHidden
}

export function validLogin(form: { telp: string; password: string }): Faults<'telp' | 'password'> {
  return missing(form, copy.form.fieldEmpty)
}

interface RegistrationForm {
  telp: string
  password: string
  repeat: string
  nama: string
}

export function validRegister(form: RegistrationForm): Faults<keyof RegistrationForm> {
  const { telp, password, repeat, nama } = form
  const gaps = missing({ telp, password, repeat, nama: nama.trim() }, copy.form.incomplete)
  if (!fine(gaps)) return gaps
  const name = nameFault(nama)
  return {
    ...tooShort('password', password),
    ...(password !== repeat && { repeat: copy.form.passwordsDiffer }),
    ...(name !== undefined && { nama: name }),
  }
}

export function validForgotTelp(form: { telp: string }): Faults<'telp'> {
  return missing(form, copy.form.fieldEmpty)
}

interface Reset {
  password: string
  repeat: string
}

export function validReset({ password, repeat }: Reset): Faults<keyof Reset> {
  const gaps = missing({ password, repeat }, copy.form.incomplete)
  if (!fine(gaps)) return gaps
  return {
    ...tooShort('password', password),
    ...(password !== repeat && { repeat: copy.form.passwordsDiffer }),
  }
}

interface PasswordChangeForm {
  current: string
  next: string
  repeat: string
}

export function validPasswordChange({
  current,
  next,
  repeat,
}: PasswordChangeForm): Faults<keyof PasswordChangeForm> {
  const gaps = missing({ current, next, repeat }, copy.form.dataMissing)
  if (!fine(gaps)) return gaps
  return {
    ...tooShort('next', next),
    ...(next !== repeat && { repeat: copy.form.newPasswordsDiffer }),
  }
}

export function fine(faults: Faults<string>): boolean {
  return Object.keys(faults).length === 0
}

/** The empty fields, all with the same sentence. */
export function missing<F extends string>(form: Record<F, string>, sentence: string): Faults<F> {
  const gaps: { [field in F]?: string } = {}
  for (const field in form) if (form[field] === '') gaps[field] = sentence
  return gaps
}

/** The server refuses it too, but only after the code was sent. */
function tooShort<F extends string>(field: F, password: string): Faults<F> {
  if (!longEnough(password)) return { [field]: copy.form.passwordTooShort } as Faults<F>
  return shortEnough(password) ? {} : ({ [field]: copy.form.passwordTooLong } as Faults<F>)
}
