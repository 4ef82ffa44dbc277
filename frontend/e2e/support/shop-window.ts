import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { repo } from './nyala.ts'

/** The app as one deployment serves it; a test can replace it by the next deployment. */
export interface ShopWindow {
  url: string
  /** Deploys a new version: its page carries this mark. */
  deploy: (mark: string) => void
  /** The server is unreachable, as without network. */
  shut: () => void
  close: () => Promise<void>
}

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
}

/** The real server serves everything else. */
const DATA = /^\/(scan|socket\.io|dev)\//

export async function openShopWindow(server: string): Promise<ShopWindow> {
  const { hostname, port } = new URL(server)
  const files = mkdtempSync(join(tmpdir(), 'nyala-app-'))
  cpSync(join(repo, 'frontend/dist'), files, { recursive: true })
  let shut = false

  const http = createServer((req, res) => {
    if (shut) return void req.socket.destroy()
    if (DATA.test(req.url ?? '')) return void pass(req, res, { hostname, port })
    serve(files, req.url ?? '/', res)
  })
  http.on('upgrade', (req, socket, head) => {
    if (shut) return void socket.destroy()
    const far = connect(Number(port), hostname, () => {
      const lines = req.rawHeaders.flatMap((value, i, all) => (i % 2 ? [] : [`${value}: ${all[i + 1]}`]))
      far.write(`${req.method} ${req.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
      far.write(head)
      far.pipe(socket).pipe(far)
    })
    for (const end of [far, socket]) end.on('error', () => [far, socket].map((one) => one.destroy()))
  })
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done))

  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    deploy: (mark) => newVersion(files, mark),
    shut() {
      shut = true
      http.closeAllConnections()
    },
    async close() {
      http.closeAllConnections()
      await new Promise((done) => http.close(done))
      rmSync(files, { recursive: true, force: true })
    },
  }
}

function serve(files: string, address: string, res: ServerResponse): void {
  const path = new URL(address, 'http://app').pathname
  const file = extname(path) ? path : '/index.html'
  try {
    const body = readFileSync(join(files, file))
    const cache = path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache'
    res.writeHead(200, {
      'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
      'cache-control': cache,
    })
    res.end(body)
  } catch {
    res.writeHead(404).end()
  }
}

function pass(req: IncomingMessage, res: ServerResponse, server: { hostname: string; port: string }): void {
  const { method, url: path, headers } = req
  const far = request({ ...server, method, path, headers }, (answer) => {
    res.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(res)
  })
  far.on('error', () => res.destroy())
  req.pipe(far)
}

/** Changes the files as a build does: another page, another name for what changed, another list in the service worker. */
function newVersion(files: string, mark: string): void {
  const page = join(files, 'index.html')
  const sw = join(files, 'sw.js')
  writeFileSync(
    page,
    readFileSync(page, 'utf8').replace(/<html[^>]*>/, `<html lang="id" data-version="${mark}">`),
  )
  const listed = /("revision":\s*")[^"]+(",\s*"url":\s*"index\.html")/
  const before = readFileSync(sw, 'utf8')
  const after = before.replace(listed, `$1${mark}$2`)
  if (after === before) throw new Error('the service worker names no index.html')
  writeFileSync(sw, after)
}
