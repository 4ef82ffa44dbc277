import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A connection to the server that can be cut like a phone's network: open connections die, new ones fail. */
export interface Line {
  url: string
  cut: () => void
  wasCut: () => boolean
  mend: () => void
  /** From now on the server's answers are dropped: the request arrives, the answer is lost. */
  loseAnswers: () => void
  close: () => Promise<void>
}

export async function openLine(server: string): Promise<Line> {
  const { hostname, port } = new URL(server)
  const open = new Set<Socket>()
  let state: 'up' | 'cut' | 'deaf' = 'up'
  let everCut = false

  const proxy = createServer((phone) => {
    if (state === 'cut') return void phone.destroy()
    const far = connect(Number(port), hostname)
    for (const socket of [phone, far]) {
      open.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        open.delete(socket)
        phone.destroy()
        far.destroy()
      })
    }
    phone.pipe(far)
    far.on('data', (bytes) => {
      if (state !== 'deaf') phone.write(bytes)
    })
    far.on('end', () => phone.end())
  })
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done))

  const drop = () => {
    for (const socket of open) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    cut() {
      state = 'cut'
      everCut = true
      drop()
    },
    wasCut: () => everCut,
    mend() {
      state = 'up'
    },
    loseAnswers() {
      state = 'deaf'
    },
    async close() {
      drop()
      await new Promise((done) => proxy.close(done))
    },
  }
}
