import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from '@/app/app'
import { followOtherTabs } from '@/shared/lib/auth-store'
import { showAfterReload } from '@/shared/lib/toast'
import '@/shared/styles/global.css'

const root = document.getElementById('root')
if (!root) throw new Error('The page has no #root to draw into')

followOtherTabs()
showAfterReload()
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
