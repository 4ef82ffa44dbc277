import { Page } from '@/shared/ui/page'

export default function RiwayatPage() {
  return <Page title="RiwayatPage">{null}</Page>
}
