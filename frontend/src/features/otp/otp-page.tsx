import { Page } from '@/shared/ui/page'

export default function OtpPage() {
  return <Page title="OtpPage">{null}</Page>
}
