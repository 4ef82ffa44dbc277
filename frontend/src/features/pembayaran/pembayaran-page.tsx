import { Page } from '@/shared/ui/page'

export default function PembayaranPage() {
  return <Page title="PembayaranPage">{null}</Page>
}
