import { asApiError } from '@/shared/api/error'
import { useAuth } from '@/shared/lib/auth-store'

/**
 * For a call about the customer's own account: when that is gone (404), the session ends as it does with
 * a 401 (docs/product.md §4, §8). Anything else is a failure of the moment and ends nothing.
 */
export async function ofOwnAccount<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (asApiError(error).status === 404) useAuth.getState().expire()
    throw error
  }
}
