import { type ApiError, asApiError, explain } from '@/shared/api/error'
import { toast } from '@/shared/lib/toast/toast'

/** The message for a failed call: what happened, and what to do about it. */
export type FailureTexts = (error: ApiError) => { title: string; body?: string | string[] | undefined }

/** The only way from a failed call to a message. Some calls have a separate text in docs/product.md. */
export function showFailure(error: unknown, texts: FailureTexts = explain, where?: { atTop: boolean }): void {
  const { title, body } = texts(asApiError(error))
  toast.failure(title, body, where)
}
