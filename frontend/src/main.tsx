import { StrictMode } from 'react'
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
createRoot(root, {
  onCaughtError(error) {
    if (!(error instanceof PageNotFetched)) reportError(error)
  },
}).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
