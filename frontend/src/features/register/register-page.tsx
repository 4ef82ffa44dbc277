import { Page } from '@/shared/ui/page'

export default function RegisterPage() {
  return <Page title="RegisterPage">{null}</Page>
}
