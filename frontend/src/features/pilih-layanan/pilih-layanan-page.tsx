import { Page } from '@/shared/ui/page'

export default function PilihLayananPage() {
  return <Page title="PilihLayananPage">{null}</Page>
}
