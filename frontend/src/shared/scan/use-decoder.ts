import { useCallback, useEffect, useState } from 'react'
import { type Decode, loadDecoder, reloadDecoder } from './decoder'

/** After this time the customer sees that loading takes long, and what to do instead. */
const SLOW_MS = 5_000

export type DecoderState = 'loading' | 'slow' | 'ready' | 'failed'

export interface Decoder {
  state: DecoderState
  /** Null until it is ready. */
  decode: Decode | null
  /** Fetches it, or waits for the fetch in progress; rejects when that fails. */
  load: () => Promise<Decode>
  /** Discards a loaded decoder that does not work. */
  giveUp: () => void
}

/** The decoder, fetched while `wanted`; after a failure it waits for a tap, or for the network. */
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
