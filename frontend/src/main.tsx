// The global styles come first, so that the parts' own styles can override them.
import '@/shared/styles/global.css'
import { StrictMode, startTransition } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from '@/app/app'
import { fetchHome } from '@/app/routes'
import { dashboardFirst } from '@/early'
import { followTaps } from '@/shared/lib/page/last-tap'
import { followSheets } from '@/shared/lib/page/sheet-history'
import { followVisiblePart } from '@/shared/lib/page/visible-part'
import { followOtherTabs } from '@/shared/lib/session/auth-store'
import { followSecrets } from '@/shared/lib/session/secret'
import { showAfterReload } from '@/shared/lib/toast/toast'
import { PageNotFetched } from '@/shared/ui/lazy-page'

/** Time to wait for a screen that is nearly loaded, before its loading state is shown. */
const PATIENCE_MS = 500
const later = (ms: number) => new Promise((done) => setTimeout(done, ms))

const root = document.getElementById('root')
if (!root) throw new Error('The page has no #root to draw into')

followOtherTabs()
showAfterReload()
followSheets()
followTaps()
followSecrets()
followVisiblePart()
const drawing = createRoot(root, {
  onCaughtError(error) {
    if (error instanceof PageNotFetched) return
    // Works as `reportError`, which came with Chrome 95 and Safari 15.4.
    setTimeout(() => {
      throw error
    })
  },
})
// As a transition, React draws the first screen in short pieces, with room for a tap in between.
const draw = () =>
  startTransition(() =>
    drawing.render(
      <StrictMode>
        <App />
      </StrictMode>,
    ),
  )
if (dashboardFirst) void Promise.race([fetchHome(), later(PATIENCE_MS)]).then(draw)
else draw()
