import { setPanel } from './panel'

/** Fetches the code for pulling sheets. Until it is loaded the sheets do not move, as always at the till. */
export function warmDrag(): void {
  void import('./drag-panel').then(
    ({ default: panel }) => setPanel(panel),
    () => undefined,
  )
}
