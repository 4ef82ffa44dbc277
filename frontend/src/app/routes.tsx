import { Navigate, Route, Routes } from 'react-router'
import { AuthOnly, PublicOnly, WithTelp } from '@/app/guard'
import { PageOutlet } from '@/app/page-boundary'
import LoginPage from '@/features/auth/login-page'
import WelcomePage from '@/features/auth/welcome-page'
import { paths } from '@/shared/lib/page/paths'
import { lazyPage } from '@/shared/ui/lazy-page'

const otp = () => import('@/features/auth/otp-page')
const forgotOtp = () => import('@/features/auth/forgot-otp-page')
const changePassword = () => import('@/features/auth/change-password-page')
const RegisterPage = lazyPage(() => import('@/features/auth/register-page'), otp)
const OtpPage = lazyPage(otp)
const ForgotTelpPage = lazyPage(() => import('@/features/auth/forgot-telp-page'), forgotOtp)
const ForgotOtpPage = lazyPage(forgotOtp, changePassword)
const ChangePasswordPage = lazyPage(changePassword)
const home = async () => (await import('@/app/home')).home
const BarLayout = lazyPage(async () => ({ default: (await home()).BarLayout }))
const DashboardPage = lazyPage(async () => ({ default: (await home()).DashboardPage }))
/** The shell and its content come from the same file: loaded one after the other, a slow phone would wait for each. */
const AuthShell = lazyPage(async () => {
  await Promise.all([BarLayout.fetch(), DashboardPage.fetch()])
  return { default: (await home()).AuthShell }
})
/** Fetches the dashboard and its shell. A failure appears in the screen's place. */
export const fetchHome = () => Promise.allSettled([AuthShell.fetch()])
const ScanPage = lazyPage(() => import('@/features/purchase/scan/scan-page'))
const pilihEpay = () => import('@/features/purchase/pilih-epay/pilih-epay-page')
const pembayaran = () => import('@/features/purchase/pembayaran/pembayaran-page')
const PilihLayananPage = lazyPage(
  () => import('@/features/purchase/pilih-layanan/pilih-layanan-page'),
  pilihEpay,
  pembayaran,
)
const PilihEpayPage = lazyPage(pilihEpay, pembayaran)
const PembayaranPage = lazyPage(pembayaran)
const RiwayatPage = lazyPage(() => import('@/features/history/riwayat-page'))
const AkunPage = lazyPage(() => import('@/features/account/akun-page'))
const TopUpPage = lazyPage(() => import('@/features/topup/top-up-page'))
const PrivasiPage = lazyPage(() => import('@/features/privacy/privasi-page'))
const OutletPages = lazyPage(() => import('@/features/outlet/outlet-pages'))

/** The only table of routes (docs/product.md §2, without the demo pages). */
export function AppRoutes() {
  return (
    <Routes>
      <Route element={<PageOutlet />}>
        <Route path={paths.privacy} element={<PrivasiPage />} />
        <Route element={<PublicOnly />}>
          <Route path={paths.welcome} element={<WelcomePage />} />
          <Route path={paths.login} element={<LoginPage />} />
          <Route path={paths.register} element={<RegisterPage />} />
          <Route path={paths.forgotTelp} element={<ForgotTelpPage />} />
          <Route element={<WithTelp back={paths.register} />}>
            <Route path={paths.otp(':noTelp')} element={<OtpPage />} />
          </Route>
          <Route element={<WithTelp back={paths.forgotTelp} />}>
            <Route path={paths.forgotOtp(':noTelp')} element={<ForgotOtpPage />} />
            <Route path={paths.changePassword(':noTelp')} element={<ChangePasswordPage />} />
          </Route>
        </Route>
        <Route element={<AuthOnly />}>
          <Route element={<AuthShell />}>
            <Route element={<BarLayout />}>
              <Route path={paths.dashboard} element={<DashboardPage />} />
              <Route path={paths.riwayat} element={<RiwayatPage />} />
              <Route path={paths.akun} element={<AkunPage />} />
            </Route>
            <Route path={paths.scan} element={<ScanPage />} />
            <Route path={paths.pilihLayanan} element={<PilihLayananPage />} />
            <Route path={paths.pilihEpay} element={<PilihEpayPage />} />
            <Route path={paths.pembayaran} element={<PembayaranPage />} />
            <Route path={paths.topUp} element={<TopUpPage />} />
            <Route path={`${paths.outlets}/:id?`} element={<OutletPages />} />
          </Route>
        </Route>
      </Route>
      <Route path="*" element={<Navigate to={paths.welcome} replace />} />
    </Routes>
  )
}
