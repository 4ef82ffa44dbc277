import { type ApiError, asApiError, explain } from '@/shared/api/error'
import { toast } from '@/shared/lib/toast'

/** What a failed call is told by: what happened, and what to do about it. */
export type Words = (error: ApiError) => { title: string; body?: string | string[] | undefined }

/** The one way from a failed call to a message. `words` where docs/product.md gives a call its own. */
export function tellFailure(error: unknown, words: Words = explain, where?: { atTop: boolean }): void {
  const { title, body } = words(asApiError(error))
  toast.failure(title, body, where)
}
