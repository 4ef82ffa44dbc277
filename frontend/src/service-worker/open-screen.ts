/// <reference lib="webworker" />

declare const self: ServiceWorkerGlobalScope

/** Shows a screen in an open page, or opens a new one. */
export async function openScreen([page]: readonly WindowClient[], path: string): Promise<void> {
  if (!page) {
    await self.clients.openWindow(path)
    return
  }
  await page.focus()
  page.postMessage({ open: path })
}
