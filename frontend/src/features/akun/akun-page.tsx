import { Page } from '@/shared/ui/page'

export default function AkunPage() {
  return <Page title="AkunPage">{null}</Page>
}
