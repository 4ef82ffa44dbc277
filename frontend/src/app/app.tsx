import { BrowserRouter } from 'react-router'
import { AppRoutes } from '@/app/routes'
import { OfflineBanner } from '@/shared/ui/offline-banner'
import { ToastHost } from '@/shared/ui/toast-host'

export function App() {
  return (
    // Without transitions a screen that is still being fetched shows at once that it is.
    <BrowserRouter useTransitions={false}>
      <OfflineBanner />
      <AppRoutes />
      <ToastHost />
    </BrowserRouter>
  )
}
