/** Every address of the app (docs/product.md §2); no other module writes a route by hand. */
export const paths = {
  welcome: '/',
  login: '/login',
  register: '/register',
  otp: (telp: string) => `/otp/${telp}`,
  forgotTelp: '/forgotPasswordTelp',
  forgotOtp: (telp: string) => `/forgotPasswordOtp/${telp}`,
  changePassword: (telp: string) => `/changePassword/${telp}`,
  dashboard: '/dashboard',
  scan: '/scanPage',
  pilihLayanan: '/pilihLayanan',
  pilihEpay: '/pilihEpay',
  pembayaran: '/pembayaran',
  riwayat: '/riwayatPage',
  akun: '/akun',
  topUp: '/topUpPage',
  outlets: '/outlet',
  privacy: '/privasi',
} as const

export const outletPath = (id: number | string) => `${paths.outlets}/${id}`
