/**
 * A file of the app that is fetched when it is needed. Browsers remember for the life of the page that a module could
 * not be fetched (the module map of the HTML standard), so that the same `import()` fails for ever, also when the network
 * is back. Each further try therefore asks by another address, the one that the browser names in its failure;
 * where it names none, as Safari, it asks as before.
 *
 * Only for a file that no other one imports: by another address it is another module, with a state of its own. A screen
 * that could not be fetched is therefore had by a reload of the page (`reload-once.ts`).
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
