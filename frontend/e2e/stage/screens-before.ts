import type { Page } from '@playwright/test'
import { telp, typeOtp } from '../support/test.ts'
import type { Screen } from './open.ts'
import { NOW, TELP } from './people.ts'
import { CUT, Refusal } from './server.ts'

const PASSWORD = 'Rahasia123'
const press = (name: string) => (page: Page) => page.getByRole('button', { name }).click()

async function logIn(page: Page): Promise<void> {
  await telp(page).fill(TELP)
  await page.getByLabel('Kata Sandi', { exact: true }).fill(PASSWORD)
  await press('Masuk')(page)
}

const secret = (name: string, value: object) => ({
  [`nyala.pribadi.secret.${name}`]: { value, until: NOW + 60_000 },
})
const sent = (purpose: string) => ({ 'nyala.kode': { [`${purpose}:${TELP}`]: NOW - 12_000 } })

const before: Screen[] = [
  { name: 'selamat-datang', path: '/', shows: 'Cuci selesai tanpa antre', action: 'Daftar' },
  { name: 'masuk', path: '/login', shows: 'Selamat datang kembali', action: 'Masuk' },
  {
    name: 'masuk-salah',
    path: '/login',
    answers: { 'auth/login': new Refusal(401, 'password is incorrect') },
    act: logIn,
    shows: 'password is incorrect',
    action: 'Masuk',
  },
  {
    name: 'masuk-tanpa-jaringan',
    path: '/login',
    answers: { 'auth/login': CUT },
    act: logIn,
    shows: 'Tidak dapat terhubung',
    action: 'Masuk',
  },
  { name: 'daftar', path: '/register', shows: 'Buat akun baru', action: 'Daftar' },
  {
    name: 'daftar-belum-lengkap',
    path: '/register',
    act: press('Daftar'),
    shows: 'Form Belum Lengkap',
    action: 'Daftar',
  },
  {
    name: 'otp',
    path: `/otp/${TELP}`,
    session: {
      ...secret('register', { telp: TELP, password: PASSWORD, nama: 'Siti Rahmawati' }),
      ...sent('register'),
    },
    act: (page) => typeOtp(page, '482'),
    shows: 'Verifikasi nomor',
    action: 'Daftar',
  },
  {
    name: 'otp-belum-terkirim',
    path: `/otp/${TELP}`,
    session: secret('register', { telp: TELP, password: PASSWORD, nama: 'Siti Rahmawati' }),
    shows: /^Minta kode dengan tombol/,
    action: 'Daftar',
  },
  { name: 'lupa-nomor', path: '/forgotPasswordTelp', shows: 'Lupa kata sandi', action: 'Kirim Kode OTP' },
  {
    name: 'lupa-kode',
    path: `/forgotPasswordOtp/${TELP}`,
    session: sent('forgot'),
    shows: 'Kode verifikasi',
    action: 'Simpan',
  },
  {
    name: 'lupa-sandi',
    path: `/changePassword/${TELP}`,
    session: secret('forgot', { telp: TELP, otp: '482913' }),
    act: (page) => page.getByLabel('Kata Sandi Baru', { exact: true }).fill('melati2'),
    shows: 'Kata sandi baru',
    action: 'Simpan',
  },
]

/** The screens before the login. */
export const screensBefore: Screen[] = before.map((screen) => ({ ...screen, public: true }))
