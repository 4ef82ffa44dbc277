/** Storage key of the session's token (docs/product.md §6). */
export const TOKEN_KEY = 'token'

export function readToken(): string | null {
  try {
    return window.localStorage.getItem(TOKEN_KEY) || null
  } catch {
    return null
  }
}
