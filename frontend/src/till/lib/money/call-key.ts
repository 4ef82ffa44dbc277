/** A new `Idempotency-Key`. Not `randomUUID`, which is missing on an address without https. */
export function newCallKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
