import { ApiError, NO_NETWORK, TIMED_OUT } from '@/shared/api/error'
import { withTimeLimit } from '@/shared/lib/net/time-limit'
import { untilAdmitted } from '@/shared/lib/net/until-admitted'
import { isRecord } from '@/shared/lib/session/storage'
import { learnServerTime } from '@/till/lib/page/clock'
import { useLine } from '@/till/lib/session/line'
import { useSession } from '@/till/lib/session/session'

/** Long enough for a weak network, short enough for a queue of customers. */
const TIMEOUT_MS = 15_000

/** The server's sentences that send this browser to another screen. */
export const SESSION_OVER = 'sesi berakhir'
const NEEDS_APPROVAL = 'perlu persetujuan supervisor'
const NOT_PAIRED = 'perangkat belum dipasang'

/** The cashier may not do this alone: with a supervisor's PIN the call succeeds. */
export const needsApproval = ({ status, message }: ApiError) =>
  status === 403 && message.includes(NEEDS_APPROVAL)

interface OpsOptions {
  body?: unknown
  /** For calls that move money: the same key and body get the same answer. */
  key?: string
  /** A supervisor's approval, valid once. */
  izin?: string | undefined
  signal?: AbortSignal | undefined
  /** A 401 is about a PIN, unless its sentence is that the session is over. */
  pin?: boolean
  /** The answer is a file: it comes as a `Blob`, without the envelope. */
  file?: boolean
  /** The caller repeats the call itself (`untilDecided`), also under overload. */
  repeated?: boolean
}

/** A call under `/ops/v1/`: the envelope's `data`, or an `ApiError`. The browser sends the cookie. */
export function ops<T>(method: 'GET' | 'POST', path: string, options: OpsOptions = {}): Promise<T> {
  const once = () => opsOnce<T>(method, path, options)
  return options.repeated ? once() : untilAdmitted(once, options.signal)
}

async function opsOnce<T>(method: 'GET' | 'POST', path: string, options: OpsOptions): Promise<T> {
  const { body, key, izin, signal, pin = false, file = false } = options
  const token = useSession.getState().session?.token ?? null
  const request: RequestInit = {
    method,
    cache: 'no-store',
    headers: {
      accept: 'application/json',
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key && { 'idempotency-key': key }),
      ...(izin && { 'x-izin': izin }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }
  return withTimeLimit(
    TIMEOUT_MS,
    async (limit) => {
      try {
        const response = await fetch(`/ops/v1/${path}`, { ...request, signal: limit })
        learnServerTime(response.headers.get('date'))
        const isFile = file && response.ok
        const answer = isFile ? { message: '', data: await response.blob() } : await envelope(response)
        useLine.getState().answered()
        if (response.ok && answer) return answer.data as T
        throw refusal(response, answer?.message ?? '', token, pin)
      } catch (error) {
        if (error instanceof ApiError || signal?.aborted) throw error
        useLine.getState().lost()
        throw new ApiError(limit.aborted ? TIMED_OUT : NO_NETWORK, '')
      }
    },
    signal,
  )
}

/** Null for a proxy's page. Rejects when the connection breaks while the body is read. */
async function envelope(response: Response): Promise<{ message: string; data: unknown } | null> {
  const text = await response.text()
  try {
    const value: unknown = JSON.parse(text)
    if (!isRecord(value) || typeof value.message !== 'string') return null
    return { message: value.message, data: value.data }
  } catch {
    return null
  }
}

function refusal(response: Response, message: string, token: string | null, pin: boolean): ApiError {
  const { status } = response
  if (response.ok) return new ApiError(502, '')
  if (status === 401) {
    const state = useSession.getState()
    if (message === NOT_PAIRED) state.unpair()
    // Only the refused token ends the session: another member of staff may have logged in since.
    else if ((!pin || message === SESSION_OVER) && token === state.session?.token) state.expire()
  }
  return new ApiError(status, message, retryAfter(response))
}

/** Whole seconds; a date, which a proxy may send, is ignored. */
function retryAfter({ headers }: Response): number | null {
  const value = headers.get('retry-after') ?? ''
  return /^\d{1,6}$/.test(value) ? Number(value) * 1000 : null
}
