import { Page } from '@/shared/ui/page'

export default function DashboardPage() {
  return <Page title="DashboardPage">{null}</Page>
}
