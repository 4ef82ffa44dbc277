import { ApiError, NO_NETWORK, TIMED_OUT } from '@/shared/api/error'
import { useAuth } from '@/shared/lib/auth-store'
import { isRecord } from '@/shared/lib/storage'

/** Long enough for a weak network, short enough that a customer at a machine is told. */
const TIMEOUT_MS = 15_000

interface CallOptions {
  body?: unknown
  /** Calls before login send no token, and their 401 is an answer, not the end of a session. */
  auth?: boolean
  timeout_ms?: number
  signal?: AbortSignal | undefined
}

/** The envelope's `data`, or an `ApiError`. */
export async function call<T>(method: 'GET' | 'POST', path: string, options: CallOptions = {}): Promise<T> {
  return (await answer<T>(method, path, options)).data
}

interface Answer<T> {
  message: string
  data: T
}

/** As `call`, for the few screens that show the message of a success. Every customer route goes through here. */
export async function answer<T>(
  method: 'GET' | 'POST',
  path: string,
  options: CallOptions = {},
): Promise<Answer<T>> {
  const { body, auth = true, timeout_ms = TIMEOUT_MS, signal } = options
  const token = auth ? useAuth.getState().token : null
  const headers: Record<string, string> = { accept: 'application/json' }
  if (body !== undefined) headers['content-type'] = 'application/json'
  if (token) headers.authorization = `Bearer ${token}`

  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), timeout_ms)
  const onAbort = () => limit.abort()
  signal?.addEventListener('abort', onAbort)
  try {
    const response = await fetch(`/scan${path}`, {
      method,
      headers,
      cache: 'no-store',
      signal: limit.signal,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return await open<T>(response, token)
  } catch (error) {
    if (error instanceof ApiError) throw error
    if (signal?.aborted) throw error
    throw new ApiError(limit.signal.aborted ? TIMED_OUT : NO_NETWORK, '')
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

async function open<T>(response: Response, token: string | null): Promise<Answer<T>> {
  // A broken connection in the middle of the body is a network failure and falls through to the caller.
  const text = await response.text()
  const envelope = parse(text)
  const message = typeof envelope?.message === 'string' ? envelope.message : ''
  if (response.ok && envelope) return { message, data: envelope.data as T }
  if (response.ok) throw new ApiError(502, '')
  // Only the token that was refused ends the session: a password change may have replaced it meanwhile.
  if (response.status === 401 && token && token === useAuth.getState().token) useAuth.getState().expire()
  throw new ApiError(response.status, message)
}

/** A proxy in between may answer with a page of its own: then there is no envelope. */
function parse(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}
