import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { binary, nyala, repo } from './nyala.ts'

const READY_MS = 60_000
const STOP_MS = 15_000

/**
 * Starts the real server with its own database, serving the built app, and makes a root key for the operators' calls. Tests find both in
 * the environment (NYALA_URL, NYALA_KEY).
 */
export default async function globalSetup(): Promise<() => Promise<void>> {
  if (!existsSync(binary))
    throw new Error(`${binary} is missing: run \`make build\`, or name the server by NYALA_BIN`)
  if (!existsSync(join(repo, 'frontend/dist/index.html')))
    throw new Error('frontend/dist is missing: run `npm run build`')
  const port = await freePort()
  const data = mkdtempSync(join(tmpdir(), 'nyala-e2e-'))
  // The variables are set in this process's environment, so that commands run by tests use the same server and database.
  process.env.NYALA__DATA__DIR = data
  process.env.NYALA__HTTP__PORT = String(port)
  process.env.NYALA__MQTT__PORT = '0'
  // All tests come from one address.
  // The widest sums are those of the largest top-up.
  process.env.NYALA__LEDGER__MAX_BALANCE = '20000000'
  process.env.NYALA__AUTH__OTP_PER_IP_HOUR = '100000'
  process.env.NYALA__AUTH__OTP_PER_HOUR = '100000'
  process.env.NYALA__AUTH__OTP_KNOWN_PER_HOUR = '100000'
  process.env.NYALA__AUTH__WRONG_LOGINS_PER_ADDRESS = '100000'
  process.env.NYALA__AUTH__WRONG_CODES_PER_ADDRESS_HOUR = '100000'
  process.env.NYALA__AUTH__RESET_ALARM_WRONG_PER_HOUR = '10000'
  process.env.NYALA__REALTIME__UNJOINED_PER_ADDRESS = '100000'
  // The push service of the alerts' tests (push-service.ts).
  process.env.NYALA__PUSH__HOSTS = '127.0.0.1'
  const log = join(data, 'server.log')
  const out = openSync(log, 'w')
  const server = spawn(binary, ['serve'], { cwd: repo, stdio: ['ignore', out, out] })
  const url = `http://127.0.0.1:${port}`
  try {
    await ready(server, url)
    const key = nyala(['key', 'add', '--role', 'root', '--nama', 'e2e'])
    process.env.NYALA_URL = url
    process.env.NYALA_KEY = key.trim()
  } catch (error) {
    server.kill('SIGTERM')
    throw new Error(
      `${error instanceof Error ? error.message : error}\n${readFileSync(log, 'utf8').slice(-4000)}`,
    )
  }
  return async () => {
    await stop(server)
    if (!process.env.KEEP_DATA) rmSync(data, { recursive: true, force: true })
  }
}

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const probe = createServer().on('error', fail)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() =>
        address && typeof address === 'object' ? done(address.port) : fail(new Error('no port')),
      )
    })
  })
}

async function ready(server: ChildProcess, url: string): Promise<void> {
  const end = Date.now() + READY_MS
  while (Date.now() < end) {
    if (server.exitCode !== null) throw new Error(`the server ended with ${server.exitCode}`)
    const answer = await fetch(`${url}/readyz`).catch(() => null)
    if (answer?.ok) return
    await new Promise((next) => setTimeout(next, 100))
  }
  throw new Error(`the server was not ready within ${READY_MS / 1000} s`)
}

function stop(server: ChildProcess): Promise<void> {
  return new Promise((done) => {
    const hard = setTimeout(() => server.kill('SIGKILL'), STOP_MS)
    server.once('exit', () => {
      clearTimeout(hard)
      done()
    })
    server.kill('SIGTERM')
  })
}
