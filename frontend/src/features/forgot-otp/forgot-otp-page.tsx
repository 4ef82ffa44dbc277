import { Page } from '@/shared/ui/page'

export default function ForgotOtpPage() {
  return <Page title="ForgotOtpPage">{null}</Page>
}
