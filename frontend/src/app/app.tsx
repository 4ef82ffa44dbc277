import { BrowserRouter } from 'react-router'
import { Frame } from '@/app/frame'
import { OfflineBanner } from '@/app/offline-banner'
import { AppRoutes } from '@/app/routes'
import { useArrival } from '@/shared/lib/arrival'
import { useTrail } from '@/shared/lib/trail'
import { ToastHost } from '@/shared/ui/toast-host'

export function App() {
  return (
    // Without transitions a screen that is still being fetched shows at once that it is.
    <BrowserRouter useTransitions={false}>
      <Followed />
      <OfflineBanner />
      <AppRoutes />
      <ToastHost />
      <Frame />
    </BrowserRouter>
  )
}

/** The changes of screen. */
function Followed() {
  useTrail()
  useArrival()
  return null
}
