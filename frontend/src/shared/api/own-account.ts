import { asApiError } from '@/shared/api/error'
import { useAuth } from '@/shared/lib/session/auth-store'

/**
 * Wraps a call about the customer's own profile: a 404 means that it is gone, and the session ends as with a 401 (docs/product.md §4,
 * §8). Any other failure is temporary and ends nothing.
 */
export async function ofOwnAccount<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (asApiError(error).status === 404) useAuth.getState().expire()
    throw error
  }
}
