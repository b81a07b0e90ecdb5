import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import packageDescription from '../../package.json' with { type: 'json' }
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

interface User {
  uid?: number
  gid?: number
}

/** Resolves with the gateway's address, which is on its first line. */
async function serve(environment: Record<string, string>, file = executable, user: User = {}): Promise<string> {
  const command = [
    'serve',
    '--data-dir',
    join(directory, 'data'),
    '--listen',
    '127.0.0.1:0',
    '--console-listen',
    '127.0.0.1:0',
  ]
  gateway = spawn(file, command, {
    ...user,
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

  it('shows the licenses of all that it contains', () => {
    const { stdout, status } = spawnSync(executable, ['licenses'], { encoding: 'utf8', env: {} })
    expect(status).toBe(0)
    for (const name of ['spgw', 'Node.js', 'SQLite', ...Object.keys(packageDescription.dependencies)]) {
      expect(stdout).toMatch(new RegExp(`^${name} \\d+\\.\\d+`, 'm'))
    }
    expect(stdout).toContain(readFileSync(join(import.meta.dirname, '../../LICENSE'), 'utf8').trim())
    const { stdout: document } = spawnSync(executable, ['licenses', '--json'], { encoding: 'utf8', env: {} })
    expect(JSON.parse(document)[0]).toMatchObject({ name: 'spgw', license: 'Apache-2.0' })
  })

  it('needs no environment, no home and no directory of its own', async () => {
    const address = await serve({})
    expect((await fetch(`${address}/readyz`)).status).toBe(200)
  })

  it.skipIf(process.getuid?.() !== 0)('runs as a user number that no user has, as containers do', async () => {
    const [uid, gid] = [2_000_123_456, 2_000_123_456]
    mkdirSync(join(directory, 'data'), { mode: 0o700 })
    chownSync(join(directory, 'data'), uid, gid)
    chmodSync(directory, 0o755)
    const address = await serve({}, executable, { uid, gid })
    expect((await fetch(`${address}/readyz`)).status).toBe(200)
    const asked = ['--data-dir', join(directory, 'data'), 'providers', 'list', '--json']
    const list = spawnSync(executable, asked, { uid, gid, env: {}, encoding: 'utf8', cwd: '/' })
    expect([list.status, list.stderr]).toEqual([0, ''])
  })

  it('writes nothing outside the data directory, and drains when asked to stop', async () => {
    await serve({ HOME: join(directory, 'home'), TMPDIR: join(directory, 'tmp') })
    gateway?.kill('SIGTERM')
    expect(await once(gateway as ChildProcess, 'exit')).toEqual([0, null])
    for (const name of ['home', 'tmp', 'elsewhere']) expect(readdirSync(join(directory, name))).toEqual([])
    expect(statSync(join(directory, 'data')).mode & 0o777).toBe(0o700)
  })

  it('runs where it may write nothing but its data, as a user without rights, home or Node', async () => {
    const file = join(directory, 'elsewhere/spgw')
    copyFileSync(executable, file)
    // A test that runs as root, who may write everywhere, serves as somebody else.
    const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
    mkdirSync(join(directory, 'data'), { mode: 0o700 })
    if (nobody.uid !== undefined) chownSync(join(directory, 'data'), nobody.uid, nobody.gid)
    for (const path of ['', 'home', 'tmp', 'elsewhere']) chmodSync(join(directory, path), 0o555)
    try {
      const address = await serve({ HOME: '/nonexistent', PATH: '' }, file, nobody)
      expect((await fetch(`${address}/readyz`)).status).toBe(200)
      gateway?.kill('SIGTERM')
      expect(await once(gateway as ChildProcess, 'exit')).toEqual([0, null])
    } finally {
      for (const path of ['', 'home', 'tmp', 'elsewhere']) chmodSync(join(directory, path), 0o755)
    }
    expect(readdirSync(join(directory, 'elsewhere'))).toEqual(['spgw'])
    for (const name of ['home', 'tmp']) expect(readdirSync(join(directory, name))).toEqual([])
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
