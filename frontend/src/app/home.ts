import AuthShell from '@/app/auth-shell'
import BarLayout from '@/app/bar-layout'
import DashboardPage from '@/features/home/dashboard-page'

/**
 * The first screen of every logged-in customer, in one file: three files would load one after the other, each for a round trip of a weak
 * network.
 */
export const home = { AuthShell, BarLayout, DashboardPage }
