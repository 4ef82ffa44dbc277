import AuthShell from '@/app/auth-shell'
import BarLayout from '@/app/bar-layout'
import DashboardPage from '@/features/home/dashboard-page'

/**
 * What every logged-in customer begins with, in one file: as three they would be fetched one after the other, each
 * for a round trip of a weak network.
 */
export const home = { AuthShell, BarLayout, DashboardPage }
