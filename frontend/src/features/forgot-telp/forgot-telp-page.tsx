import { Page } from '@/shared/ui/page'

export default function ForgotTelpPage() {
  return <Page title="ForgotTelpPage">{null}</Page>
}
