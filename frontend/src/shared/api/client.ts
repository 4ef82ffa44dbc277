import createClient from 'openapi-fetch'
import { bearer, takeAhead } from '@/shared/api/ahead'
import { ApiError, NO_NETWORK, TIMED_OUT } from '@/shared/api/error'
import type { paths } from '@/shared/api/schema.gen'
import { withTimeLimit } from '@/shared/lib/net/time-limit'
import { untilAdmitted } from '@/shared/lib/net/until-admitted'
import { useAuth } from '@/shared/lib/session/auth-store'
import { isRecord } from '@/shared/lib/session/storage'

/** Long enough for a weak network, short enough for a customer who waits at a machine. */
const TIMEOUT_MS = 15_000

/** The server's routes with their types, generated from its OpenAPI file. Only `call` uses it. */
export const api = createClient<paths>({
  cache: 'no-store',
  fetch: (request) => takeAhead(request) ?? fetch(request),
})

interface CallOptions {
  /** Calls before login send no token, and their 401 is an answer, not the end of a session. */
  auth?: boolean
  timeout_ms?: number
  signal?: AbortSignal | undefined
  /** The caller repeats the call itself (`untilDecided`), also under overload. */
  repeated?: boolean
}

type Init = {
  headers: Record<string, string>
  signal: AbortSignal
}

interface Envelope<T> {
  message: string
  data: T
}

/** One request of `api`, with the options that every request needs. */
type SendRequest<T> = (
  init: Init,
) => Promise<{ data?: Envelope<T> | undefined; error?: unknown; response: Response }>

/** The envelope's `data`, or an `ApiError`. */
export async function call<T>(send: SendRequest<T>, options?: CallOptions): Promise<T> {
  return (await answer(send, options)).data
}

/** Like `call`, for the few screens that show the message of a success. Every customer route goes through here. */
export function answer<T>(send: SendRequest<T>, options: CallOptions = {}): Promise<Envelope<T>> {
  const once = () => answerOnce(send, options)
  return options.repeated ? once() : untilAdmitted(once, options.signal)
}

async function answerOnce<T>(send: SendRequest<T>, options: CallOptions): Promise<Envelope<T>> {
  const { auth = true, timeout_ms = TIMEOUT_MS, signal } = options
  const token = auth ? useAuth.getState().token : null
  const headers: Record<string, string> = token ? { authorization: bearer(token) } : {}
  return withTimeLimit(
    timeout_ms,
    async (limit) => {
      try {
        const { data, error, response } = await send({ headers, signal: limit })
        if (isRecord(data)) return data
        throw refusal(response, error, token)
      } catch (error) {
        if (error instanceof ApiError || signal?.aborted) throw error
        // A proxy answered in the server's place: a success that is not JSON.
        if (error instanceof SyntaxError) throw new ApiError(502, '')
        throw new ApiError(limit.aborted ? TIMED_OUT : NO_NETWORK, '')
      }
    },
    signal,
  )
}

function refusal(response: Response, error: unknown, token: string | null): ApiError {
  if (response.ok) return new ApiError(502, '')
  // Only the refused token ends the session: a password change may have replaced it in the meantime.
  if (response.status === 401 && token && token === useAuth.getState().token) useAuth.getState().expire()
  // A proxy may answer with a separate page: then there is no message.
  const { message = '', data = null } = isRecord(error) ? error : {}
  return new ApiError(response.status, typeof message === 'string' ? message : '', retryAfter(response), data)
}

/** The server sends whole seconds; a date, which a proxy may send, is ignored. */
function retryAfter({ headers }: Response): number | null {
  const value = headers.get('retry-after') ?? ''
  return /^\d{1,6}$/.test(value) ? Number(value) * 1000 : null
}
