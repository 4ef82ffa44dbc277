import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from '@playwright/test'
import { binary, nyala, repo } from './nyala.ts'

const STOP_MS = 10_000

/** Plays the devices whose keys are in this file, until the returned function is called. `more`: further options. */
export function playDevices(keys: string, ...more: string[]): () => Promise<void> {
  const program = join(dirname(binary), 'nyala-device-sim')
  const sim: ChildProcess = spawn(program, ['--keys', keys, '--hb', '5', ...more], {
    cwd: repo,
    stdio: 'ignore',
  })
  return () =>
    new Promise((done) => {
      if (sim.exitCode !== null) return done()
      const hard = setTimeout(() => sim.kill('SIGKILL'), STOP_MS)
      sim.once('exit', () => {
        clearTimeout(hard)
        done()
      })
      sim.kill('SIGTERM')
    })
}

/** Gives this machine a key, and plays its device. */
export function playDevice(idmesin: number, ...more: string[]): () => Promise<void> {
  const info = test.info()
  const keys = info.outputPath(`mesin-${idmesin}.jsonl`)
  mkdirSync(info.outputDir, { recursive: true })
  writeFileSync(keys, nyala(['device', 'add', String(idmesin)]))
  return playDevices(keys, ...more)
}
