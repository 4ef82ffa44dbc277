import { useCallback, useEffect, useState } from 'react'
import { type Decode, loadDecoder, reloadDecoder } from './decoder'

/** Beyond this the customer is told that it takes long, and what can be done meanwhile. */
const SLOW_MS = 5_000

export type DecoderState = 'loading' | 'slow' | 'ready' | 'failed'

export interface Decoder {
  state: DecoderState
  /** Null until it is ready. */
  decode: Decode | null
  /** Fetches it, or waits for the fetch under way; rejects when that fails. */
  load: () => Promise<Decode>
  /** What is loaded does not work: it is thrown away. */
  giveUp: () => void
}

/** What reads codes, fetched while `wanted`; a failure waits for the customer, or for the network to come back. */
export function useDecoder(wanted: boolean): Decoder {
  const [state, setState] = useState<DecoderState>('loading')
  const [decode, setDecode] = useState<Decode | null>(null)

  const load = useCallback(async () => {
    setState((now) => (now === 'ready' ? now : 'loading'))
    const slow = setTimeout(() => setState('slow'), SLOW_MS)
    try {
      const loaded = await loadDecoder()
      setDecode(() => loaded)
      setState('ready')
      return loaded
    } catch (error) {
      setState('failed')
      throw error
    } finally {
      clearTimeout(slow)
    }
  }, [])

  useEffect(() => {
    if (wanted) void load().catch(() => undefined)
  }, [wanted, load])

  useEffect(() => {
    if (state !== 'failed') return
    const again = () => void load().catch(() => undefined)
    window.addEventListener('online', again)
    return () => window.removeEventListener('online', again)
  }, [state, load])

  const giveUp = useCallback(() => {
    reloadDecoder()
    setDecode(null)
    setState('failed')
  }, [])

  return { state, decode, load, giveUp }
}
