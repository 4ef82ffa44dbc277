import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { test } from '@playwright/test'

export const repo = resolve(import.meta.dirname, '../../..')

/** The server's binary: `NYALA_BIN`, else the one of a debug build. */
export const binary =
  process.env.NYALA_BIN ?? join(resolve(repo, process.env.CARGO_TARGET_DIR ?? 'target'), 'debug/nyala')

/** Runs one of the server's commands, e.g. `qr`, beside the running server; returns its output. */
export function nyala(args: string[]): string {
  return execFileSync(binary, args, { cwd: repo }).toString()
}

/** A machine's printed sticker: the file of its picture. */
export function sticker(idmesin: number): string {
  const file = test.info().outputPath(`mesin-${idmesin}.png`)
  mkdirSync(dirname(file), { recursive: true })
  nyala(['qr', String(idmesin), '--out', file])
  return file
}
