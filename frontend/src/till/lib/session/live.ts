import type { Socket } from 'socket.io-client'
import { create } from 'zustand'
import { OPEN_TIMEOUT_MS, socketLibrary } from '@/shared/realtime/library'
import { getTicket } from '@/till/api/calls'
import { holdLine } from '@/till/lib/session/hold-line'
import { useLine } from '@/till/lib/session/line'

/**
 * State of the current session's socket; `opening` until the first attempt has ended. No call waits for it. A screen subscribes to topics
 * over `socket`, which is null while there is no connection.
 */
export const useLive = create<{ is: 'opening' | 'up' | 'down'; socket: Socket | null }>(() => ({
  is: 'opening',
  socket: null,
}))

/** Opens the socket of the current session, and keeps it until the returned function is called. */
export function openLive(): () => void {
  const line = holdLine({
    async ticket() {
      // The library loads first, because a ticket is only valid for a minute.
      await socketLibrary()
      return (await getTicket()).tiket
    },
    dial,
    onChange: (up) => useLive.setState({ is: up ? 'up' : 'down' }),
  })
  const onWake = () => {
    if (document.visibilityState === 'visible') line.wake()
  }
  for (const event of WAKES) window.addEventListener(event, onWake)
  // The server answers calls again, so it accepts sockets again, too.
  const forget = useLine.subscribe((now, before) => {
    if (now.up && !before.up) line.wake()
  })
  return () => {
    forget()
    for (const event of WAKES) window.removeEventListener(event, onWake)
    line.stop()
    useLive.setState({ is: 'opening' })
  }
}

const WAKES = ['visibilitychange', 'pageshow', 'online']

async function dial(tiket: string, { up, down }: { up: () => void; down: () => void }): Promise<() => void> {
  const { io } = await socketLibrary()
  // The library would reconnect with the same ticket.
  const line = io({ auth: { tiket }, forceNew: true, reconnection: false, timeout: OPEN_TIMEOUT_MS })
  line.on('connect', () => {
    useLive.setState({ socket: line })
    up()
  })
  line.on('disconnect', down)
  line.on('connect_error', down)
  return () => {
    useLive.setState({ socket: null })
    line.off()
    line.disconnect()
  }
}
