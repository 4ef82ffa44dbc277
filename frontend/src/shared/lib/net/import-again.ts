/**
 * Imports a file of the app on demand, with retries. Browsers remember for the life of the page that a module could not be fetched (the
 * module map of the HTML standard). The same `import()` therefore keeps failing, also when the network is back. Each further attempt uses
 * another address, the one that the browser names in its failure; where the browser names none, as Safari does, it uses the same one.
 *
 * Only for a file that no other one imports: under another address it is another module, with separate state. A screen that could not be
 * fetched is therefore recovered by a reload of the page (`reload-once.ts`).
 */
export function importAgain<T>(
  load: () => Promise<T>,
  from: (address: string) => Promise<T> = (address) => import(/* @vite-ignore */ address),
): () => Promise<T> {
  let address: string | null = null
  let tries = 0
  return async () => {
    try {
      return await (address ? from(`${address}?again=${tries}`) : load())
    } catch (error) {
      tries += 1
      address ??= addressIn(error)
      throw error
    }
  }
}

function addressIn(error: unknown): string | null {
  const [address] = /https?:\/\/[^\s?#]+\.js/.exec(String(error)) ?? []
  return address?.startsWith(`${window.location.origin}/`) ? address : null
}
