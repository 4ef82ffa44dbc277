import { Page } from '@/shared/ui/page'

export default function TopUpPage() {
  return <Page title="TopUpPage">{null}</Page>
}
