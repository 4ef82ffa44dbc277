import { BrowserRouter } from 'react-router'
import { Frame } from '@/app/frame'
import { OfflineBanner } from '@/app/offline-banner'
import { AppRoutes } from '@/app/routes'
import { useArrival } from '@/shared/lib/page/arrival'
import { useTrail } from '@/shared/lib/page/trail'
import { ToastHost } from '@/shared/ui/toast-host'

export function App() {
  return (
    // Without transitions, a screen that is still loading shows its loading state at once.
    <BrowserRouter useTransitions={false}>
      <Followed />
      <OfflineBanner />
      <AppRoutes />
      <ToastHost />
      <Frame />
    </BrowserRouter>
  )
}

/** Hooks that follow every change of screen. */
function Followed() {
  useTrail()
  useArrival()
  return null
}
