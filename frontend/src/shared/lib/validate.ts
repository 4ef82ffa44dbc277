import { added } from '@/shared/copy/added'
import { spec } from '@/shared/copy/spec'
import { longEnough } from '@/shared/lib/password-advice'

/** What is wrong with a form, field by field in the form's order; empty when it may be sent (docs/product.md §5). */
export type Faults<F extends string> = { readonly [field in F]?: string }

/** Words of a name; inner blanks collapse. */
export function words(name: string): string[] {
  return name.trim().split(/\s+/).filter(Boolean)
}

export function isFullName(name: string): boolean {
  return words(name).length >= 2
}

export function validLogin(form: { telp: string; password: string }): Faults<'telp' | 'password'> {
  return missing(form, spec.fieldEmpty)
}

interface Registration {
  telp: string
  password: string
  repeat: string
  nama: string
}

export function validRegister(form: Registration): Faults<keyof Registration> {
  const { telp, password, repeat, nama } = form
  const gaps = missing({ telp, password, repeat, nama: nama.trim() }, spec.formIncomplete)
  if (!fine(gaps)) return gaps
  return {
    ...tooShort('password', password),
    ...(password !== repeat && { repeat: spec.passwordsDiffer }),
    ...(!isFullName(nama) && { nama: spec.nameTooShort }),
  }
}

export function validForgotTelp(form: { telp: string }): Faults<'telp'> {
  return missing(form, spec.fieldEmpty)
}

interface Reset {
  password: string
  repeat: string
}

export function validReset({ password, repeat }: Reset): Faults<keyof Reset> {
  const gaps = missing({ password, repeat }, spec.formIncomplete)
  if (!fine(gaps)) return gaps
  return {
    ...tooShort('password', password),
    ...(password !== repeat && { repeat: spec.passwordsDiffer }),
  }
}

interface PasswordChange {
  current: string
  next: string
  repeat: string
}

export function validPasswordChange({ current, next, repeat }: PasswordChange): Faults<keyof PasswordChange> {
  const gaps = missing({ current, next, repeat }, spec.dataMissing)
  if (!fine(gaps)) return gaps
  return {
    ...tooShort('next', next),
    ...(next !== repeat && { repeat: spec.newPasswordsDiffer }),
  }
}

export function fine(faults: Faults<string>): boolean {
  return Object.keys(faults).length === 0
}

/** The fields that are empty, all with the same sentence. */
function missing<F extends string>(form: Record<F, string>, sentence: string): Faults<F> {
  const gaps: { [field in F]?: string } = {}
  for (const field in form) if (form[field] === '') gaps[field] = sentence
  return gaps
}

/** The server refuses it too, but only with the code, which would then have been asked for in vain. */
function tooShort<F extends string>(field: F, password: string): Faults<F> {
  return longEnough(password) ? {} : ({ [field]: added.passwordTooShort } as Faults<F>)
}
