import { BrowserRouter } from 'react-router'
import { AppRoutes } from '@/app/routes'
import { OfflineBanner } from '@/shared/ui/offline-banner'
import { ToastHost } from '@/shared/ui/toast-host'

export function App() {
  return (
    <BrowserRouter>
      <OfflineBanner />
      <AppRoutes />
      <ToastHost />
    </BrowserRouter>
  )
}
