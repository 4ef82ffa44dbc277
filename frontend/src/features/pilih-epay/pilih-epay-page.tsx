import { Page } from '@/shared/ui/page'

export default function PilihEpayPage() {
  return <Page title="PilihEpayPage">{null}</Page>
}
