import { PageOutlet } from '@/app/page-boundary'
import { BottomBar } from '@/shared/ui/bottom-bar'

/** Dashboard, history and account: the screens with the bottom bar. */
export default function BarLayout() {
  return (
    <>
      <PageOutlet />
      <BottomBar />
    </>
  )
}
