import { Page } from '@/shared/ui/page'

export default function ScanPage() {
  return <Page title="ScanPage">{null}</Page>
}
