// An entry script separate from the app (vite.config.ts). It imports little, so that it runs while the app is still loading: it requests
// the screen and the data that a logged-in customer sees first.
import { askAhead } from '@/shared/api/ahead'
import { paths } from '@/shared/lib/page/paths'
import { readToken } from '@/shared/lib/session/token'

const token = readToken()
const starts: string[] = [paths.welcome, paths.dashboard]

/** Whether the dashboard is the first screen. */
export const dashboardFirst = token !== null && starts.includes(window.location.pathname)

if (token && dashboardFirst) {
  askAhead(token)
  // The component that renders the file imports it again and shows a failure.
  import('@/app/home').catch(() => undefined)
}
