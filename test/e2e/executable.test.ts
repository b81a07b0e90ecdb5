import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { executable } from '../support/executable.ts'

let directory: string
let gateway: ChildProcess | undefined
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'executable-'))
  for (const name of ['home', 'tmp', 'elsewhere']) mkdirSync(join(directory, name))
})
afterEach(async () => {
  if (gateway?.exitCode === null && gateway.kill('SIGKILL')) await once(gateway, 'exit')
  gateway = undefined
  rmSync(directory, { recursive: true })
})

/** Resolves with the gateway's address, which is on its first line. */
async function serve(environment: Record<string, string>): Promise<string> {
  const command = [
    'serve',
    '--data-dir',
    join(directory, 'data'),
    '--listen',
    '127.0.0.1:0',
    '--console-listen',
    '127.0.0.1:0',
  ]
  gateway = spawn(executable, command, {
    cwd: join(directory, 'elsewhere'),
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const { stdout, stderr } = gateway
  if (!stdout || !stderr) throw new Error('no output')
  const lines: string[] = []
  return new Promise((resolve, reject) => {
    for (const stream of [stdout, stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        lines.push(line)
        const address = /gateway (http:\/\/\S+)/.exec(line)?.[1]
        if (address) resolve(address)
      })
    }
    gateway?.once('exit', () => reject(new Error(`ended early:\n${lines.join('\n')}`)))
  })
}

describe('dist/spgw', () => {
  it('has at most 135 MB', () => {
    expect(statSync(executable).size).toBeLessThanOrEqual(135e6)
  })

  it('needs no environment, no home and no directory of its own', async () => {
    const address = await serve({})
    expect((await fetch(`${address}/readyz`)).status).toBe(200)
  })

  it('writes nothing outside the data directory, and drains when asked to stop', async () => {
    await serve({ HOME: join(directory, 'home'), TMPDIR: join(directory, 'tmp') })
    gateway?.kill('SIGTERM')
    expect(await once(gateway as ChildProcess, 'exit')).toEqual([0, null])
    for (const name of ['home', 'tmp', 'elsewhere']) expect(readdirSync(join(directory, name))).toEqual([])
    expect(statSync(join(directory, 'data')).mode & 0o777).toBe(0o700)
  })

  it('tells its version, and refuses wrong settings with their place', () => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'))
    const run = (args: string[], env: Record<string, string> = {}) =>
      spawnSync(executable, args, { env, encoding: 'utf8' })
    expect(run(['version']).stdout).toContain(version)
    const refused = run(['serve', '--data-dir', join(directory, 'data')], { SPGW_LOG_LEVLE: 'info' })
    expect(refused.status).not.toBe(0)
    expect(refused.stderr).toContain('SPGW_LOG_LEVLE: unknown setting; did you mean SPGW_LOG_LEVEL?')
  })
})
