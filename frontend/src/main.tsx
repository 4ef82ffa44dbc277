import { StrictMode, startTransition } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from '@/app/app'
import { PageNotFetched } from '@/app/lazy-page'
import { followOtherTabs } from '@/shared/lib/auth-store'
import { showAfterReload } from '@/shared/lib/toast'
import '@/shared/styles/global.css'

const root = document.getElementById('root')
if (!root) throw new Error('The page has no #root to draw into')

followOtherTabs()
showAfterReload()
const drawing = createRoot(root, {
  onCaughtError(error) {
    if (!(error instanceof PageNotFetched)) reportError(error)
  },
})
// As a transition React draws the first screen in short pieces, with room for a tap in between.
startTransition(() =>
  drawing.render(
    <StrictMode>
      <App />
    </StrictMode>,
  ),
)
