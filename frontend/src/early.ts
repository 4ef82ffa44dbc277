// A script of its own (vite.config.ts) that imports little, so that it runs while the app is still on its way: it sends
// for the screen and the data that a logged-in customer will see first.
import { askAhead } from '@/shared/api/ahead'
import { paths } from '@/shared/lib/paths'
import { readToken } from '@/shared/lib/token'

const token = readToken()
const starts: string[] = [paths.welcome, paths.dashboard]

/** Whether the dashboard is the first screen. */
export const dashboardFirst = token !== null && starts.includes(window.location.pathname)

if (token && dashboardFirst) {
  askAhead(token)
  // Who draws it asks for the file again, and is told when it cannot be fetched.
  import('@/app/home').catch(() => undefined)
}
