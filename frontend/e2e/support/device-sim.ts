import { type ChildProcess, spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { binary, repo } from './nyala.ts'

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
