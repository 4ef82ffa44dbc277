import { BottomBar } from '@/app/bottom-bar'
import { PageOutlet } from '@/app/page-boundary'

/** Dashboard, history and account: the screens with the bottom bar. */
export default function BarLayout() {
  return (
    <>
      <PageOutlet />
      <BottomBar />
    </>
  )
}
