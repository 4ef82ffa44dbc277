import { Page } from '@/shared/ui/page'

export default function ChangePasswordPage() {
  return <Page title="ChangePasswordPage">{null}</Page>
}
