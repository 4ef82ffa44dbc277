import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { followTaps } from '@/shared/lib/page/last-tap'
import { followSheets } from '@/shared/lib/page/sheet-history'
import { App } from '@/till/app/app'
import '@/shared/styles/global.css'
import '@/till/ui/page.css'

const root = document.getElementById('root')
if (!root) throw new Error('The page has no #root to draw into')

followSheets()
followTaps()
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
