import { execFileSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

export const repo = resolve(import.meta.dirname, '../../..')

/** The server's program: `NYALA_BIN`, else the one of a debug build. */
export const binary =
  process.env.NYALA_BIN ?? join(resolve(repo, process.env.CARGO_TARGET_DIR ?? 'target'), 'debug/nyala')

/** Runs one of its commands, e.g. `qr`, beside the running server; returns what it prints. */
export function nyala(args: string[]): string {
  return execFileSync(binary, args, { cwd: repo }).toString()
}

/** A machine's sticker as it is printed: the file of its picture. */
export function sticker(idmesin: number): string {
  const file = join(mkdtempSync(join(tmpdir(), 'nyala-qr-')), 'mesin.png')
  nyala(['qr', String(idmesin), '--out', file])
  return file
}
