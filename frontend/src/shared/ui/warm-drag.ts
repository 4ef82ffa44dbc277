import { setPanel } from './panel'

/** Fetches what sheets are pulled with. Until it is there they stand still, as they always do at the till. */
export function warmDrag(): void {
  void import('./drag-panel').then(
    ({ default: panel }) => setPanel(panel),
    () => undefined,
  )
}
