import { spec } from '@/shared/copy/spec'

/** A form's first fault as a message to show, or null when it may be sent (product.md §5). */
export type Fault = string | null

const empty = (text: string) => text.trim() === ''

/** Words of a name; inner blanks collapse. */
export function kata(nama: string): string[] {
  return nama.trim().split(/\s+/).filter(Boolean)
}

export function namaCukup(nama: string): boolean {
  return kata(nama).length >= 2
}

export function validLogin(form: { telp: string; password: string }): Fault {
  return empty(form.telp) || form.password === '' ? spec.fieldMasihKosong : null
}

export function validRegister(form: { telp: string; password: string; ulangi: string; nama: string }): Fault {
  if (empty(form.telp) || form.password === '' || form.ulangi === '' || empty(form.nama)) {
    return spec.formBelumLengkap
  }
  if (!namaCukup(form.nama)) return spec.namaMinimalDuaKata
  return form.password === form.ulangi ? null : spec.passwordTidakSama
}

export function validForgotTelp(form: { telp: string }): Fault {
  return empty(form.telp) ? spec.fieldMasihKosong : null
}

export function validReset(form: { password: string; ulangi: string }): Fault {
  if (form.password === '' || form.ulangi === '') return spec.formBelumLengkap
  return form.password === form.ulangi ? null : spec.passwordTidakSama
}

export function validUbahSandi(form: { lama: string; baru: string; ulangi: string }): Fault {
  if (form.lama === '' || form.baru === '' || form.ulangi === '') return spec.dataAdaYangKosong
  return form.baru === form.ulangi ? null : spec.kataSandiTidakSama
}
